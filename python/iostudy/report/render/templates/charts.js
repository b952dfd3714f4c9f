// Bundled with Vega, Vega-Lite and vegaEmbed, and run by page.js. Expressions are interpreted, not
// compiled (ast), so that the page needs no eval and its content security policy can forbid it.
const options = {
  mode: "vega-lite",
  renderer: "svg",
  actions: false,
  ast: true,
  defaultStyle: false,
  tooltip: { disableDefaultStyle: true },
};

const valuesOf = (column) =>
  Array.isArray(column) ? column : column.at.map((place) => column.of[place]);

// Columns as report/render/page_data.py writes them, as the rows that Vega takes.
const rowsOf = (places, columns) => {
  const own = Object.entries(places).map(([name, place]) => [name, columns[place]]);
  const length = own.length ? own[0][1].length : 0;
  return Array.from({ length }, (_, row) =>
    Object.fromEntries(own.map(([name, values]) => [name, values[row]])),
  );
};

const draw = async (id, spec, columns) => {
  const tables = Object.entries(spec.datasets ?? {});
  spec.datasets = Object.fromEntries(
    tables.map(([name, places]) => [name, rowsOf(places, columns)]),
  );
  const place = document.getElementById(id);
  await vegaEmbed(place, spec, options);
  // The place itself says what is drawn, and the tables below have the figures.
  place.firstElementChild?.setAttribute("aria-hidden", "true");
  place.dataset.drawn = "yes";
};

const drawAll = async () => {
  const { charts, columns } = await window.unpacked("charts").json();
  const values = columns.map(valuesOf);
  await Promise.all(Object.entries(charts).map(([id, spec]) => draw(id, spec, values)));
  document.documentElement.dataset.charts = "drawn";
};

drawAll().finally(window.chartsAreDrawn);
