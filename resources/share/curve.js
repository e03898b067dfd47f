// How many tokens the text has at each size, a line for each run.

const MOMENTS = 40, WIDTH = 640, HEIGHT = 180, MOST_IN_CURVE = 5000;
const SVG = "http://www.w3.org/2000/svg";

function shape(name, attributes, text = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

class Curve {
  constructor(runs, timeline) {
    this.runs = runs;
    this.timeline = timeline;
    this.svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "Tokens of your text by size" });
    this.caption = make("figcaption", { class: "muted" });
    this.element = make("figure", {}, this.svg, this.caption);
  }

  show(text) {
    const some = text.slice(0, MOST_IN_CURVE), { last } = this.timeline;
    const lines = this.runs.map((run) => (run.refuses(some) ? [] : this.line(run, some)));
    const most = Math.max(1, ...lines.flat().map(([, tokens]) => tokens));
    this.svg.replaceChildren();
    lines.forEach((line, i) => {
      const points = line.map(([x, tokens]) => `${8 + ((WIDTH - 16) * x) / Math.max(1, last)},${HEIGHT - 8 - ((HEIGHT - 24) * tokens) / most}`);
      this.svg.append(shape("polyline", { class: `curve c${i % GROUNDS}`, points: points.join(" ") }));
    });
    this.svg.append(shape("text", { x: 8, y: 12 }, counted(most, "token")));
    this.mark = shape("line", { class: "mark", y1: 0, y2: HEIGHT });
    this.svg.append(this.mark);
    this.moveTo(this.timeline.place);
    const shown = lines.map((line, i) => `${this.runs[i].title}: ${line.length ? counted(line[line.length - 1][1], "token") : "not known here"} at the end`);
    this.caption.textContent = `Tokens of your text at each moment. ${shown.join("; ")}.`;
  }

  line(run, text) {
    return Array.from({ length: MOMENTS + 1 }, (_, i) => {
      const place = Math.round((this.timeline.last * i) / MOMENTS);
      const stretches = run.cut(text, this.timeline.stepOf(run, place));
      return [place, stretches.reduce((sum, { cut }) => sum + (cut ? cut.ids.length : 0), 0)];
    });
  }

  moveTo(place) {
    if (!this.mark) return;
    const x = 8 + ((WIDTH - 16) * place) / Math.max(1, this.timeline.last);
    this.mark.setAttribute("x1", x);
    this.mark.setAttribute("x2", x);
  }
}
