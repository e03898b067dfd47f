// The whole page: one text and one slider for all runs.

const LATER = 250, FIRST_RATE = 2, GROWTH = 8; // milliseconds; steps a second, and how they grow

// All moments that the slider knows: the steps of one run, or the sizes of the vocabularies of several.
class Timeline {
  constructor(runs) {
    this.bySize = runs.length > 1;
    this.stepName = runs[0].stepName;
    const sizes = runs.flatMap((run) => [run.sizeAt(0), run.sizeAt(run.length)]);
    this.first = this.bySize ? Math.min(...sizes) : 0;
    this.last = this.bySize ? Math.max(...sizes) - this.first : runs[0].length;
    this.place = this.bySize ? Math.min(...runs.map((run) => run.sizeAt(run.length))) - this.first : this.last;
  }

  placeAt(number) {
    return number - this.first;
  }

  stepOf(run, place) {
    return this.bySize ? run.stepOfSize(place + this.first) : place;
  }

  placeOf(run, step) {
    return this.bySize ? run.sizeAt(step) - this.first : step;
  }

  named(place) {
    return this.bySize ? `vocabulary of ${(place + this.first).toLocaleString("en")}` : counted(place, this.stepName);
  }

  inWords() {
    if (this.bySize) return `${counted(this.place + this.first, "token")} in the vocabularies`;
    return `${counted(this.place, this.stepName)} of ${this.last.toLocaleString("en")}`;
  }
}

class Page {
  constructor(data) {
    this.symbols = data.symbols && new Symbols(data.symbols);
    this.runs = data.runs.map((run) => new Run(run, this.symbols));
    this.timeline = new Timeline(this.runs);
    this.lanes = this.runs.map((run) => new Lane(run, this.timeline.bySize));
    this.curve = new Curve(this.runs, this.timeline);
    this.input = make("textarea", { id: "text", rows: "3", spellcheck: "false", autocapitalize: "off" });
    this.input.value = this.typed(data.text);
    this.slider = make("input", { id: "moment", type: "range", min: "0", max: this.timeline.last, value: this.timeline.place });
    this.moment = make("output", { for: "moment", "aria-live": "off" });
    this.button = make("button", { type: "button", id: "play" }, "Play");
    this.address = new Address(this);
    this.connect();
    this.fill(data);
    this.show();
    this.address.read();
    this.curve.show(this.text);
  }

  connect() {
    this.input.addEventListener("input", () => {
      this.show();
      this.address.writeSoon();
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.curve.show(this.text), LATER);
    });
    this.slider.addEventListener("input", () => {
      this.pause();
      this.goTo(Number(this.slider.value));
    });
    this.button.addEventListener("click", () => (this.isPlaying ? this.pause() : this.play()));
  }

  fill(data) {
    document.title = data.title;
    const controls = make("div", { class: "controls" }, this.button, make("label", { for: "moment" }, "Moment"), this.slider, this.moment, this.address.copy, this.address.said);
    const text = make("div", { class: "typed" }, make("label", { for: "text" }, this.symbols ? "Your symbols, separated by spaces" : "Your text"), this.input);
    const lanes = make("div", { class: "lanes" }, ...this.lanes.map((lane) => lane.element));
    document.querySelector("main").replaceChildren(make("h1", {}, data.title), text, controls, lanes, this.curve.element);
  }

  // A text as a person types it: if its symbols are no text, their names.
  typed(text) {
    return this.symbols ? this.symbols.namesIn(text) : text;
  }

  get text() {
    if (this.symbols) return this.symbols.textOf(this.input.value);
    return this.input.value.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
  }

  setText(text) {
    if (text === this.text) return;
    this.input.value = this.typed(text);
    this.show();
    this.curve.show(this.text);
  }

  goTo(place) {
    const before = this.timeline.place;
    this.timeline.place = Math.max(0, Math.min(this.timeline.last, Math.floor(place)));
    this.slider.value = this.timeline.place;
    this.show();
    this.curve.moveTo(this.timeline.place);
    if (this.timeline.place !== before) this.address.writeSoon();
  }

  show() {
    const told = this.timeline.inWords();
    this.moment.textContent = told;
    this.slider.setAttribute("aria-valuetext", told);
    for (const lane of this.lanes) lane.show(this.text, this.timeline.stepOf(lane.run, this.timeline.place));
  }

  play() {
    this.isPlaying = true;
    this.button.textContent = "Pause";
    let place = this.timeline.place >= this.timeline.last ? 0 : this.timeline.place, before = performance.now();
    this.goTo(place);
    const tick = (now) => {
      if (!this.isPlaying) return;
      place += ((now - before) / 1000) * Math.max(FIRST_RATE, place / GROWTH);
      before = now;
      if (Math.floor(place) !== this.timeline.place) this.goTo(place);
      if (this.timeline.place >= this.timeline.last) this.pause();
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  pause() {
    this.isPlaying = false;
    this.button.textContent = "Play";
  }
}

if (typeof document !== "undefined") open((data) => new Page(data));
