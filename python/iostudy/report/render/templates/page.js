// What the page does by itself, and how it takes out what is packed in it (report/render/page_data.py).
window.unpacked = (id) => {
  const text = atob(document.getElementById(id).textContent);
  const packed = new Blob([Uint8Array.from(text, (letter) => letter.charCodeAt(0))]);
  const stream = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream, { headers: { "Content-Type": "application/json" } });
};

// A spreadsheet takes text that begins with one of these as a formula: a quote before it stops that.
const FORMULA = /^[=+\-@\t\r]/;

const cell = (value) => {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const flat = (trial) => {
  const { figures, settings, devices, machine, phases, notes, ...own } = trial;
  const groups = { figures, settings, machine, phases, device: devices[trial.device] ?? {} };
  const named = Object.entries(groups).flatMap(([group, values]) =>
    Object.entries(values).map(([name, value]) => [`${group}.${name}`, value]),
  );
  return Object.fromEntries([...Object.entries(own), ...named]);
};

const csv = (trials) => {
  const rows = trials.map(flat);
  const heads = [...new Set(rows.flatMap(Object.keys))];
  const lines = [heads, ...rows.map((row) => heads.map((head) => row[head]))];
  return lines.map((line) => `${line.map(cell).join(",")}\r\n`).join("");
};

// Made on the first click, not before: a page of many trials opens no later for it. A page without
// trials has no links.
const offer = (id, made) => {
  const link = document.getElementById(id);
  if (!link) return;
  link.addEventListener("click", async (event) => {
    if (link.href.startsWith("blob:")) return;
    event.preventDefault();
    link.href = URL.createObjectURL(await made());
    link.click();
  });
};

const offerDownloads = () => {
  const data = () => window.unpacked("data");
  offer("download", () => data().blob());
  offer("csv", async () => new Blob([csv((await data().json()).trials)], { type: "text/csv" }));
};

// Printing without a window (--print-to-pdf) waits for the page's load event only. An open document in
// a frame delays that event until the charts are drawn.
const holdLoadEvent = () => {
  const frame = document.createElement("iframe");
  frame.hidden = true;
  frame.title = "charts are being drawn";
  document.body.append(frame);
  frame.contentDocument.open();
  return () => {
    frame.contentDocument?.close();
    frame.remove();
  };
};

// The policy knows the library by its hash, as it does this script.
const drawCharts = async () => {
  window.chartsAreDrawn = holdLoadEvent();
  window.addEventListener("error", window.chartsAreDrawn, { once: true });
  const script = document.createElement("script");
  script.textContent = await window.unpacked("library").text();
  document.body.append(script);
};

// A print cannot unfold a section, and thousands of rows have no reader.
const openDetails = () => {
  for (const details of document.querySelectorAll("details:not([open]):not(.long)")) {
    details.open = true;
    details.dataset.printed = "yes";
  }
};

const closeDetails = () => {
  for (const details of document.querySelectorAll("details[data-printed]")) {
    details.open = false;
    delete details.dataset.printed;
  }
};

const hintAtScrolling = () => {
  const watch = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      // Both are rounded: a pixel more is no width.
      target.classList.toggle("scrolls", target.scrollWidth > target.clientWidth + 1);
    }
  });
  for (const place of document.querySelectorAll(".scroll")) watch.observe(place);
};

window.addEventListener("beforeprint", openDetails);
window.addEventListener("afterprint", closeDetails);
hintAtScrolling();
if (window.DecompressionStream) {
  offerDownloads();
  drawCharts();
} else {
  document.getElementById("packed").hidden = false;
}
