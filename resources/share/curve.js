// How many tokens the text has at each size, a line for each run, between its first and its last step.

const MOMENTS = 40, WIDTH = 640, HEIGHT = 180, MARGIN = 6, MOST_IN_CURVE = 5000;
const SVG = "http://www.w3.org/2000/svg";

function shape(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

class Curve {
  constructor(runs, timeline) {
    this.runs = runs;
    this.timeline = timeline;
    this.svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" });
    this.top = make("div", { class: "muted" });
    this.bottom = make("div", { class: "muted ends" }, make("span", {}, timeline.named(0)), make("span", {}, timeline.named(timeline.last)));
    this.legend = make("figcaption", {});
    this.element = make("figure", {}, this.top, this.svg, this.bottom, this.legend);
  }

  show(text) {
    const some = text.slice(0, MOST_IN_CURVE), lines = this.runs.map((run) => (run.refuses(some) ? [] : this.line(run, some)));
    this.element.hidden = !lines.some((line) => line.length);
    if (this.element.hidden) return;
    const most = Math.max(1, ...lines.flat().map(([, tokens]) => tokens));
    this.svg.replaceChildren();
    lines.forEach((line, i) => {
      const points = line.map(([place, tokens]) => `${this.x(place)},${HEIGHT - MARGIN - ((HEIGHT - 2 * MARGIN) * tokens) / most}`);
      this.svg.append(shape("polyline", { class: `curve c${i}`, points: points.join(" ") }));
    });
    this.mark = shape("line", { class: "mark", y1: 0, y2: HEIGHT });
    this.svg.append(this.mark);
    this.moveTo(this.timeline.place);
    this.top.textContent = `Tokens of your text, up to ${most.toLocaleString("en")}`;
    const ends = lines.map((line) => (line.length ? `from ${counted(line[0][1], "token")} to ${line[line.length - 1][1].toLocaleString("en")}` : "not known here"));
    this.svg.setAttribute("aria-label", this.runs.map((run, i) => `${run.title}: ${ends[i]}`).join("; "));
    this.legend.replaceChildren(...this.runs.map((run, i) => this.entry(run, i, ends[i])));
  }

  entry(run, i, ends) {
    const sample = shape("svg", { viewBox: "0 0 30 8", class: "sample", "aria-hidden": "true" });
    sample.append(shape("line", { class: `curve c${i}`, x1: 0, x2: 30, y1: 4, y2: 4 }));
    return make("div", {}, sample, `${run.title}: ${ends}`);
  }

  x(place) {
    return MARGIN + ((WIDTH - 2 * MARGIN) * place) / Math.max(1, this.timeline.last);
  }

  // [place on the slider, tokens] of some moments of a run, from left to right.
  line(run, text) {
    const ends = [this.timeline.placeOf(run, 0), this.timeline.placeOf(run, run.length)], first = Math.min(...ends), last = Math.max(...ends);
    const places = Array.from({ length: MOMENTS + 1 }, (_, i) => Math.round(first + ((last - first) * i) / MOMENTS));
    return [...new Set(places)].map((place) => {
      const stretches = run.cut(text, this.timeline.stepOf(run, place));
      return [place, stretches.reduce((sum, { cut }) => sum + (cut ? cut.ids.length : 0), 0)];
    });
  }

  moveTo(place) {
    if (!this.mark) return;
    this.mark.setAttribute("x1", this.x(place));
    this.mark.setAttribute("x2", this.x(place));
  }
}
