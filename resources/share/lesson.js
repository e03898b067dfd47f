// Lessons that ask, check and explain. What a person answers stays in this browser.

const SIGNS = { right: "✓", close: "≈", wrong: "✗", shown: "→" };
const MEMORY = "bpe-explorer lessons";
const LONGEST_TOKENS = 32; // characters; a longer choice is a sentence

// The step reached in each lesson, and which are done. A browser may refuse to keep it.
class Memory {
  constructor() {
    try {
      this.kept = JSON.parse(localStorage.getItem(MEMORY)) ?? {};
    } catch {
      this.kept = {};
    }
  }

  of(name) {
    const { at = 0, done = false } = Object.hasOwn(this.kept, name) ? this.kept[name] : {};
    return { at: Number.isInteger(at) ? at : 0, done: done === true };
  }

  keep(name, state) {
    this.kept[name] = { ...this.of(name), ...state };
    try {
      localStorage.setItem(MEMORY, JSON.stringify(this.kept));
    } catch {
      // It is remembered as long as the page is open.
    }
  }
}

// Paragraphs in which `x` is a token and **x** is strong.
function paragraphs(text) {
  return text.split(/\n\s*\n/).filter((one) => one.trim()).map((paragraph) => {
    const parts = paragraph.split(/`([^`]*)`|\*\*(.+?)\*\*/s), made = [];
    for (let i = 0; i < parts.length; i += 3) {
      made.push(parts[i]);
      if (parts[i + 1] !== undefined) made.push(make("code", {}, parts[i + 1]));
      if (parts[i + 2] !== undefined) made.push(make("b", {}, ...paragraphs(parts[i + 2])[0].childNodes));
    }
    return make("p", {}, ...made.filter((one) => one !== undefined));
  });
}

// A lesson under way.
class Course {
  constructor(lesson, number) {
    this.lesson = lesson;
    this.number = Math.min(number, lesson.steps.length - 1);
    this.replies = new Map();
    this.asked = new Set();
    this.right = new Set();
  }

  get step() {
    return this.lesson.steps[this.number];
  }

  get reply() {
    return this.replies.get(this.number) ?? { isDone: false, ruledOut: [] };
  }

  get canGoOn() {
    return this.step.kind === "read" || this.reply.isDone;
  }

  count(isRight) {
    if (isRight && !this.asked.has(this.number)) this.right.add(this.number);
    this.asked.add(this.number);
  }

  say(given) {
    if (this.reply.isDone || !given.trim()) return;
    if (this.step.kind === "predict") this.predict(given);
    else this.answer(given);
  }

  predict(given) {
    const { step, reply } = this, guess = guessIn(step, given);
    if (guess === null) {
      this.note({ mood: "wrong", sentence: step.how_to_write });
      return;
    }
    const again = step.again && !reply.ruledOut.length, verdict = judged(step, guess, !again);
    this.count(verdict.mood === "right");
    if (again && verdict.mood !== "right") this.note(verdict, guess);
    else this.finish(verdict);
  }

  answer(given) {
    const { step } = this, verdict = answered(step, given);
    this.count(verdict.mood === "right");
    if (verdict.mood === "right") this.finish(verdict);
    else this.note(verdict, step.choices.includes(given) ? given : undefined);
  }

  showAnswer() {
    this.count(false);
    this.finish(this.step.told);
  }

  note(verdict, ruledOut) {
    this.replies.set(this.number, { isDone: false, verdict, ruledOut: [...this.reply.ruledOut, ...(ruledOut === undefined ? [] : [ruledOut])] });
  }

  finish(verdict) {
    this.replies.set(this.number, { ...this.reply, isDone: true, verdict });
  }

  score() {
    const right = this.right.size, asked = this.asked.size;
    if (!asked) return "";
    const praise = right === asked ? "Well done!" : 2 * right >= asked ? "Good." : "That is how one learns.";
    return `${praise} ${right} of ${asked} right at the first try.`;
  }
}

// The words, each split into its tokens; a click between two of them guesses that they are joined.
function wordsOf(words, guess) {
  return make("div", { class: "words", role: "list", "aria-label": "The words now" }, ...words.map(({ count, texts, new: newest }) => {
    const tiles = texts.map((text, i) => make("span", { class: newest.includes(i) ? "tile new" : "tile" }, text));
    if (guess) tiles.forEach((tile, i) => tile.addEventListener("click", (event) => {
      const { left, width } = tile.getBoundingClientRect(), first = event.clientX > left + width / 2 ? i : i - 1;
      if (texts.length > 1) guess(texts.slice(Math.max(0, Math.min(first, texts.length - 2))).slice(0, 2).join(" + "));
    }));
    const times = words.length > 1 ? [make("span", { class: "times" }, `${count.toLocaleString("en")} ×`)] : [];
    const inside = make("span", { class: guess ? "tiles asking" : "tiles" }, ...tiles);
    return make("div", { role: "listitem", "aria-label": `${count} times ${texts.join(" ")}` }, ...times, inside);
  }));
}

// The work of each trainer of a race, as bars: symbols that were read, and pairs that were looked at.
function raceOf({ merges, bars }) {
  const longest = Math.max(...bars.map(({ pairs, places }) => pairs + places));
  const part = (kind, work) => {
    const made = make("span", { class: kind });
    made.style.width = `${(100 * work) / longest}%`;
    return made;
  };
  const rows = bars.map(({ name, pairs, places }) => {
    const work = `${counted(places, "place")}, ${counted(pairs, "pair")}`;
    const bar = make("span", { class: "bar", "aria-hidden": "true" }, part("places", places), part("pairs", pairs));
    return make("div", { role: "listitem" }, make("b", {}, name), bar, make("span", { class: "muted" }, work));
  });
  const about = make("p", { class: "muted" }, `The work for ${counted(merges, "merge")} of a short story.`);
  return make("div", { class: "race" }, make("div", { role: "list", "aria-label": "The work of each trainer" }, ...rows), about);
}

class Lessons {
  constructor({ title, lessons }) {
    this.title = title;
    this.lessons = lessons;
    this.memory = new Memory();
    document.title = title;
    if (lessons.length === 1) this.begin(0);
    else this.showList();
  }

  get main() {
    return document.querySelector("main");
  }

  showList() {
    this.course = null;
    const items = this.lessons.map((lesson, i) => {
      const { at, done } = this.memory.of(lesson.name), here = at && !done ? `go on at step ${at + 1} of ${lesson.steps.length}` : "";
      const state = here || (done ? "done" : counted(lesson.minutes, "minute"));
      const name = make("b", {}, `${done ? "✓ " : ""}${lesson.title}`);
      const button = make("button", { type: "button", class: "offer", onclick: () => this.begin(i) }, name, make("span", {}, lesson.about), make("span", { class: "muted" }, state));
      return make("li", {}, button);
    });
    const about = make("p", {}, "Learn how texts become tokens by doing it: predict, answer, and read what came of it. What you answer stays in this browser.");
    this.main.replaceChildren(make("h1", {}, this.title), about, make("ol", { class: "offers" }, ...items));
  }

  begin(place) {
    this.place = place;
    const lesson = this.lessons[place], { at, done } = this.memory.of(lesson.name);
    this.course = new Course(lesson, done ? 0 : at);
    this.show();
  }

  goTo(number) {
    const { course } = this, { name, steps } = course.lesson;
    course.number = number;
    if (number < steps.length) {
      this.memory.keep(name, { at: number });
      this.show();
    } else {
      this.memory.keep(name, { at: 0, done: true });
      this.showEnd();
    }
    window.scrollTo(0, 0);
  }

  show() {
    const { course } = this, { lesson, step, number, reply } = course, total = lesson.steps.length;
    const asks = step.kind === "predict" && !step.is_single && !reply.isDone;
    const words = reply.isDone ? step.words_after : step.words;
    this.said = make("div", { class: "said", tabindex: "-1" }, ...paragraphs(step.say));
    const shown = words.length ? [wordsOf(words, asks ? (pair) => this.answer(pair) : null)] : [];
    if (!words.length && step.subject) shown.push(make("p", { class: "subject" }, make("code", {}, step.subject)));
    if (step.race) shown.push(raceOf(step.race));
    if (words.length && asks) shown.push(make("p", { class: "muted" }, "Click between two tokens to predict that they are merged next, or choose below."));
    this.form = make("form", { class: "answer", onsubmit: (event) => this.submit(event) });
    this.remark = make("div", { role: "status", "aria-live": "polite" });
    this.after = make("div", { class: "after" });
    const way = make("div", { class: "way" },
      this.button("‹ Back", () => this.goTo(number - 1), number === 0),
      (this.next = this.button(number + 1 < total ? "Next ›" : "Finish", () => this.goTo(number + 1), !course.canGoOn)));
    const progress = make("progress", { max: total, value: number + 1, "aria-label": "Steps of the lesson" });
    const head = make("div", { class: "head" }, ...this.wayOut(), make("span", { class: "muted" }, `Step ${number + 1} of ${total}`));
    const page = make("div", { class: "step" }, this.said, make("div", { class: "shown" }, ...shown), this.form, this.remark, this.after, way);
    this.main.replaceChildren(head, make("h1", {}, lesson.title), progress, page);
    this.fillForm();
    this.showReply();
    this.said.focus({ preventScroll: true });
  }

  wayOut() {
    return this.lessons.length > 1 ? [this.button("All lessons", () => this.showList())] : [];
  }

  button(title, act, isOff = false) {
    const button = make("button", { type: "button", class: "plain", onclick: act }, title);
    button.disabled = isOff;
    return button;
  }

  fillForm() {
    const { step, reply } = this.course;
    if (step.kind === "read") return;
    const options = step.kind === "predict" ? (reply.isDone ? [] : step.candidates) : step.choices;
    const areTokens = options.every((text) => step.kind === "predict" || text.length <= LONGEST_TOKENS);
    const buttons = options.map((text) => this.option(text, areTokens));
    if (buttons.length) this.form.append(make("div", { class: areTokens ? "options short" : "options" }, ...buttons));
    if (reply.isDone) return;
    const isTyped = step.kind === "predict" || !step.choices.length, names = step.cells ?? [];
    const fields = names.length ? names.map((name) => this.field(name)) : isTyped ? [this.field("")] : [];
    const row = make("div", { class: "entry" }, ...fields);
    if (fields.length) row.append(make("button", { type: "submit" }, step.kind === "predict" ? "Predict" : "Check"));
    if (reply.verdict) row.append(this.button("Show me", () => this.react(() => this.course.showAnswer())));
    if (row.childNodes.length) this.form.append(row);
  }

  option(text, isToken) {
    const { reply } = this.course, shown = isToken ? make("code", {}, text) : text;
    const button = make("button", { type: "button", onclick: () => this.answer(text) }, shown);
    button.disabled = reply.isDone || reply.ruledOut.includes(text);
    return button;
  }

  field(name) {
    const { step } = this.course, typed = step.is_single ? "or type a token" : "or type a pair, such as l + o";
    const hint = name ? "" : step.kind === "predict" ? typed : "your answer";
    const input = make("input", { type: "text", autocomplete: "off", spellcheck: "false", autocapitalize: "off", placeholder: hint });
    if (!name) input.setAttribute("aria-label", step.kind === "predict" ? "What is done next" : "Your answer");
    return name ? make("label", {}, make("code", {}, name), input) : input;
  }

  submit(event) {
    event.preventDefault();
    const fields = [...this.form.querySelectorAll("input")];
    this.answer(fields.length > 1 ? fields.map((one) => one.value.trim() || "?").join(" ") : fields[0].value.trim());
  }

  answer(given) {
    if (given.trim()) this.react(() => this.course.say(given), given);
  }

  // Acts, and shows what came of it. What was typed stays to be changed.
  react(act) {
    const typed = [...this.form.querySelectorAll("input")].map((one) => one.value);
    act();
    this.show();
    if (this.course.reply.isDone) {
      this.next.focus();
      return;
    }
    const fields = [...this.form.querySelectorAll("input")];
    fields.forEach((one, i) => (one.value = typed[i] ?? ""));
    (fields.find((one) => one.value) ?? this.form.querySelector("button:enabled"))?.focus();
  }

  showReply() {
    const { step, reply } = this.course;
    if (reply.verdict) {
      const { mood, sentence } = reply.verdict;
      this.remark.className = `remark ${mood}`;
      // A moment later, so that a screen reader hears it change.
      setTimeout(() => this.remark.replaceChildren(make("b", { "aria-hidden": "true" }, SIGNS[mood]), make("span", {}, sentence)));
    }
    if (reply.isDone) this.after.append(...paragraphs(step.after));
  }

  showEnd() {
    const { lesson } = this.course, following = this.lessons[this.place + 1], way = make("div", { class: "way" });
    way.append(...this.wayOut(), this.button("Once more", () => this.begin(this.place)));
    if (following) way.append(this.button(`Next: ${following.title}`, () => this.begin(this.place + 1)));
    const title = make("h1", { tabindex: "-1" }, `✓ “${lesson.title}” is done`);
    this.main.replaceChildren(title, make("p", { role: "status" }, this.course.score()), way);
    title.focus({ preventScroll: true });
  }
}

if (typeof document !== "undefined") open((data) => new Lessons(data));
