// Bundled with Vega, Vega-Lite and vegaEmbed. Expressions are interpreted, not compiled (ast), so
// that the page needs no eval and its content security policy can forbid it.
const parsed = (id) => JSON.parse(document.getElementById(id).textContent);

const options = {
  mode: "vega-lite",
  renderer: "svg",
  actions: false,
  ast: true,
  defaultStyle: false,
  tooltip: { disableDefaultStyle: true },
};

const draw = async ([id, spec]) => {
  const place = document.getElementById(id);
  await vegaEmbed(place, spec, options);
  place.dataset.drawn = "yes";
};

const offerDownload = () => {
  const text = document.getElementById("data").textContent;
  const link = document.getElementById("download");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
};

const openDetails = () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
};

const hintAtScrolling = () => {
  const watch = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      target.classList.toggle("scrolls", target.scrollWidth > target.clientWidth);
    }
  });
  for (const place of document.querySelectorAll(".scroll")) watch.observe(place);
};

window.addEventListener("beforeprint", openDetails);
offerDownload();
hintAtScrolling();
Promise.all(Object.entries(parsed("charts")).map(draw)).then(() => {
  document.documentElement.dataset.charts = "drawn";
});
