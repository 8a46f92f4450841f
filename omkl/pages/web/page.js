// The page: unpack the data, set up tables and figures, light and dark, news of a run.

let page = { tables: {}, figures: {} };
let drawn = []; // figures that are set up
let printing = false;

async function unpack(id) {
  const bytes = Uint8Array.from(atob($(`#${id}`).textContent), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

let library = null;
function plotly() {
  library ??= unpack("library").then((text) => {
    document.head.append(element("script", {}, text)); // its hash is in the page's policy
  });
  return library;
}

function colours(printed = false) {
  const style = getComputedStyle(document.documentElement);
  const light = printed || printing;
  if (light) return { ink: "#1a1a1a", grid: "#dddddd", paper: "#ffffff", dark: false };
  const value = (name) => style.getPropertyValue(name).trim();
  return { ink: value("--ink"), grid: value("--line"), paper: value("--paper"), dark: value("--dark") === "1" };
}

function setUp() {
  fold();
  for (const [id, entry] of Object.entries(page.tables)) setUpTable($(`#${id}`), entry);
  drawn = [];
  const near = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => {
      near.unobserve(entry.target);
      plotly().then(() => entry.target.figure.draw());
    }),
    { rootMargin: "400px" },
  );
  for (const [id, figure] of Object.entries(page.figures)) {
    const box = $(`#${id}`);
    const own = setUpFigure(box, figure, colours);
    if (!own) continue;
    box.figure = own;
    drawn.push(own);
    near.observe(box);
  }
  const idle = window.requestIdleCallback ?? ((does) => setTimeout(does, 200));
  idle(() => drawRest(drawn, idle), { timeout: 4000 });
}

// Later all figures are drawn, so that a print has them.
async function drawRest(figures, idle) {
  await plotly();
  for (const figure of figures) {
    if (figures !== drawn) return; // news have come
    if (!figure.isDrawn()) await figure.draw();
    await new Promise((resolve) => idle(resolve));
  }
}

function fold() { // the list of sections is closed where it would fill a phone's screen
  $("nav details").open = matchMedia("(min-width: 60rem)").matches;
}

function redress() {
  for (const figure of drawn) figure.redress();
}

document.addEventListener("click", (event) => {
  const pressed = event.target.closest("button");
  if (pressed?.classList.contains("copy")) copy($("code", pressed.parentElement).textContent, pressed);
  if (pressed?.classList.contains("theme")) {
    document.documentElement.dataset.theme = colours().dark ? "light" : "dark";
    redress();
  }
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redress);
addEventListener("beforeprint", () => {
  printing = true;
  $$("details").forEach((one) => (one.open = true));
  redress();
});
addEventListener("afterprint", () => {
  printing = false;
  redress();
});

// ---------------------------------------------------------------- news of a run

function kept() { // what the reader has chosen
  const inputs = $$("input[type=search], .table select").map((input) => input.value);
  const states = drawn.map(({ state }) => ({ ...state }));
  return { inputs, states, x: scrollX, y: scrollY };
}

function restore({ inputs, states, x, y }) {
  $$("input[type=search], .table select").forEach((input, i) => {
    if (inputs[i] === undefined) return;
    input.value = inputs[i];
    input.dispatchEvent(new Event("input"));
  });
  drawn.forEach(({ state, redress }, i) => {
    const { hidden, bands, logX, logY } = states[i] ?? state;
    Object.assign(state, { hidden, bands, logX, logY });
    redress();
  });
  scrollTo(x, y);
}

async function news(version) {
  const token = new URLSearchParams(location.search).get("token");
  let wait = 2000;
  try {
    const answer = await fetch(`/news?token=${encodeURIComponent(token)}&since=${encodeURIComponent(version)}`);
    if (answer.status === 200) {
      const other = new DOMParser().parseFromString(await answer.text(), "text/html");
      const before = kept();
      for (const id of ["page", "data"]) $(`#${id}`).replaceWith(document.adoptNode($(`#${id}`, other)));
      page = JSON.parse(await unpack("data"));
      version = page.live;
      setUp();
      restore(before);
    } else if (answer.status !== 204) {
      throw new Error(String(answer.status));
    }
    $("#state")?.classList.remove("lost");
  } catch {
    $("#state")?.classList.add("lost"); // the server has ended: what is shown stays
    wait = 10000;
  }
  setTimeout(() => news(version), wait);
}

document.documentElement.classList.add("js");
unpack("data").then((text) => {
  page = JSON.parse(text);
  setUp();
  document.documentElement.dataset.ready = "1";
  if (page.live) news(page.live);
});
