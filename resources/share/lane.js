// A run on the page: its tokens of the text in colours, their numbers, what comes next, and why a token is there.

const MOST_DRAWN = 2000, LEADERS = 5, MOST_IN_TREE = 200;

const GOES_ON = "·"; // a token that is a further part of the character before

class Lane {
  constructor(run, isOneOfSeveral) {
    this.run = run;
    this.isOneOfSeveral = isOneOfSeveral;
    this.drawn = [];
    this.chosen = -1;
    this.facts = make("p", { class: "muted facts" });
    this.view = make("div", { class: "tokens", tabindex: "0", role: "group", "aria-label": `Tokens of ${run.title}` });
    this.view.addEventListener("click", (event) => this.click(event));
    this.view.addEventListener("keydown", (event) => this.key(event));
    this.ids = make("code", { class: "ids" });
    this.leaders = make("div", { class: "leaders" });
    this.reason = make("div", { class: "reason", "aria-live": "polite" });
    const ids = make("details", {}, make("summary", {}, "Ids"), this.ids);
    ids.addEventListener("toggle", () => this.showIds());
    this.idsAreOpen = () => ids.open;
    const about = `${run.recipe}: ${counted(run.length, run.stepName)}`;
    this.element = make("section", { class: "lane", "aria-label": run.title }, make("h2", {}, run.title), make("p", { class: "muted" }, about));
    if (run.note) this.element.append(make("p", { class: "note" }, run.note));
    this.element.append(this.facts, this.view, this.reason, ids, this.leaders);
  }

  show(text, at) {
    const hasMoved = this.at !== at;
    this.at = at;
    this.why = this.run.refuses(text);
    this.text = text;
    this.flow = this.why ? [] : flowOf(this.run, this.run.cut(text, at));
    this.draw();
    this.showFacts();
    this.showIds();
    if (this.chosen >= this.flow.length || hasMoved) this.choose(-1);
    if (hasMoved) this.showLeaders();
  }

  // Only what differs between two flows is drawn anew; the first pieces are drawn, of however many.
  draw() {
    const { flow, drawn } = this, nodes = this.view.children, same = (one, other) => one.shown === other.shown && one.drawn === other.drawn && one.colour === other.colour && one.id === other.id;
    const most = Math.min(flow.length, drawn.length);
    let start = 0, end = 0;
    while (start < most && same(flow[start], drawn[start])) start++;
    while (end < most - start && same(flow[flow.length - 1 - end], drawn[drawn.length - 1 - end])) end++;
    for (let i = Math.min(drawn.length - end, nodes.length) - 1; i >= start; i--) nodes[i].remove();
    if (start < MOST_DRAWN) this.view.insertBefore(spansOf(flow.slice(start, Math.min(flow.length - end, MOST_DRAWN))), nodes[start] ?? null);
    while (nodes.length > MOST_DRAWN) this.view.lastChild.remove();
    this.view.append(spansOf(flow.slice(nodes.length, MOST_DRAWN)));
    this.drawn = flow;
  }

  showFacts() {
    const tokens = this.flow.filter((piece) => piece.id !== undefined).length;
    this.tokenCount = tokens;
    if (this.why) {
      this.facts.textContent = `This page cannot split the text exactly. ${this.why}`;
      return;
    }
    const bytes = UTF8.encode(this.text).length, words = this.text.split(/\s+/u).filter(Boolean).length;
    const parts = [counted(tokens, "token"), counted(bytes, "byte")];
    if (tokens) parts.push(`${(bytes / tokens).toFixed(2)} bytes a token`);
    if (words) parts.push(`${(tokens / words).toFixed(2)} tokens a word`);
    if (this.flow.length > MOST_DRAWN) parts.push(`the first ${counted(MOST_DRAWN, "token")} are drawn`);
    const size = this.isOneOfSeveral ? ` (${counted(this.run.sizeAt(this.at), "token")} in its vocabulary)` : "";
    this.facts.textContent = `After ${counted(this.at, this.run.stepName)}${size}: ${parts.join(", ")}`;
  }

  showIds() {
    if (!this.idsAreOpen()) return;
    const { tokens } = this.run;
    this.ids.textContent = this.flow.flatMap(({ id }) => (id === undefined ? [] : [tokens.number(id)])).join(" ");
  }

  click(event) {
    const place = Array.prototype.indexOf.call(this.view.children, event.target);
    if (place >= 0) this.choose(place);
  }

  key(event) {
    const far = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!far || !this.drawn.length) return;
    event.preventDefault();
    let place = this.chosen + far;
    while (this.drawn[place] && this.drawn[place].id === undefined) place += far;
    if (this.view.children[place]) this.choose(place);
  }

  choose(place) {
    this.view.children[this.chosen]?.classList.remove("chosen");
    this.chosen = place;
    this.reason.replaceChildren();
    const piece = this.drawn[place];
    if (!piece || piece.id === undefined) return;
    this.view.children[place].classList.add("chosen");
    const { tokens } = this.run;
    this.reason.append(make("h3", {}, `${tokens.name(piece.id)} is token ${tokens.number(piece.id)}`));
    this.reason.append(make("p", {}, `Before it: ${this.whyCut(place - 1)} Behind it: ${this.whyCut(place)}`));
    this.reason.append(make("ul", { class: "tree" }, this.tree(piece.id, { room: MOST_IN_TREE })));
  }

  tree(id, budget) {
    const parts = this.run.tokens.parts(id), about = this.aboutStep(id), item = make("li", {}, make("code", {}, this.run.tokens.name(id)), about);
    if (parts && budget.room-- > 0) item.append(make("ul", {}, ...parts.map((part) => this.tree(part, budget))));
    return item;
  }

  aboutStep(id) {
    const { tokens, counts, stepName } = this.run, step = tokens.stepOf(id);
    if (step === undefined) return "";
    return ` ${stepName} ${(step + 1).toLocaleString("en")}${counts ? `, ${counted(counts[step], "time")}` : ""}`;
  }

  // Why there is a cut behind a token.
  whyCut(place) {
    const piece = this.flow[place];
    if (place < 0) return "the text begins.";
    if (place === this.flow.length - 1) return "the text ends.";
    if (piece.id === undefined || piece.reason === undefined) return "the pattern splits there, and no token crosses it.";
    const step = typeof piece.reason === "function" ? piece.reason() : piece.reason, { tokens, way } = this.run, later = (step + 1).toLocaleString("en");
    if (step === NEVER) return way.whyNot;
    if (way.later) return `${way.later} ${this.run.stepName} ${later} on.`;
    const pair = `${quoted(tokens.name(tokens.left[step]))} and ${quoted(tokens.name(tokens.right[step]))}`;
    return `${this.run.stepName} ${later} joins ${pair} across it.`;
  }

  // The pairs that occur most, and what the last step took from them; or the next step and its runner-up.
  showLeaders() {
    const { run, at } = this, rows = run.words ? this.countedPairs() : this.nextSteps();
    const most = Math.max(1, ...rows.map(({ count }) => count ?? 0));
    this.leaders.replaceChildren(make("h3", {}, at < run.length ? `Next: ${this.nextName()}` : "All is learned"));
    if (run.words && rows.length) this.leaders.append(make("p", { class: "muted" }, this.at ? "The pairs that occur most now, and what the last step took:" : "The pairs that occur most now:"));
    for (const { name, count, taken } of rows) {
      const bar = make("div", { class: "bar" });
      bar.style.width = `${(100 * (count ?? 0)) / most}%`;
      const number = make("span", {}, count === undefined ? "" : count.toLocaleString("en"));
      this.leaders.append(make("div", { class: "leader" }, make("code", {}, name), make("div", {}, bar), number, make("span", { class: "taken" }, taken ?? "")));
    }
  }

  nextName() {
    const { tokens } = this.run, left = tokens.name(tokens.left[this.at]);
    if (tokens.right[this.at] < 0) return `${quoted(left)} ${tokens.right[this.at] === DROPPED ? "goes" : "comes"}`;
    return `${quoted(left)} and ${quoted(tokens.name(tokens.right[this.at]))} become one`;
  }

  pairName([left, right]) {
    const { tokens } = this.run;
    return right < 0 ? tokens.name(left) : `${tokens.name(left)} + ${tokens.name(right)}`;
  }

  // The pairs that occur most; and the one that the last step took most from, wherever it is now.
  countedPairs() {
    const before = this.at ? this.run.pairCounts(this.at - 1) : null, now = this.run.pairCounts(this.at);
    const takenBy = before && this.run.tokens.name(this.run.tokens.idOfStep[this.at - 1]);
    const row = (pair) => {
      const count = now.get(pairKey(...pair)) ?? 0, fewer = before ? (before.get(pairKey(...pair)) ?? 0) - count : 0;
      return { name: this.pairName(pair), count, taken: fewer > 0 ? `−${fewer.toLocaleString("en")}, taken by ${takenBy}` : "" };
    };
    const leading = this.run.leadingPairs(this.at, LEADERS).map(({ pair }) => pair), loser = before && this.loser(before, now);
    const isThere = loser && leading.some((pair) => pairKey(...pair) === pairKey(...loser));
    return [...leading, ...(loser && !isThere ? [loser] : [])].map(row);
  }

  // The pair that lost most to the last step, of those that were not joined.
  loser(before, now) {
    const joined = pairKey(this.run.tokens.left[this.at - 1], this.run.tokens.right[this.at - 1]);
    let most = 0, found = null;
    for (const [key, count] of before) {
      const lost = key === joined ? 0 : count - (now.get(key) ?? 0);
      if (lost > most) [most, found] = [lost, [Math.floor(key / SIDE), key % SIDE]];
    }
    return found;
  }

  nextSteps() {
    const { run, at } = this;
    if (at >= run.length) return [];
    const rows = [{ name: this.pairName([run.tokens.left[at], run.tokens.right[at]]), count: run.counts?.[at] }], other = run.others?.[at];
    if (other) rows.push({ name: this.pairName(other.pair), count: other.count });
    return rows;
  }
}

// The pieces to draw: {shown, id, colour, reason} of a token, {shown} of what is in none.
function flowOf(run, stretches) {
  const flow = [];
  for (const { text, cut } of stretches) {
    if (!cut) {
      flow.push({ shown: text });
      continue;
    }
    const bytes = isAscii(text) ? null : UTF8.encode(text);
    const drawn = bytes ? wholeCharacters(bytes, cut.ends) : [];
    let start = 0;
    cut.ids.forEach((id, i) => {
      const end = cut.ends[i], isLast = i === cut.ids.length - 1;
      const piece = bytes ? decoded(bytes.subarray(start, end)) ?? hex(bytes.subarray(start, end)) : text.slice(start, end);
      flow.push({ shown: piece === "" ? run.tokens.name(id) : piece, drawn: run.symbols?.shown(piece) ?? drawn[i], id, reason: isLast ? undefined : cut.reasons[i] });
      start = end;
    });
  }
  const known = flow.filter(({ id }) => id !== undefined), colours = coloursInRow(known.map((piece) => run.coloursOf(piece.shown)));
  known.forEach((piece, i) => (piece.colour = colours[i]));
  return flow;
}

// What is drawn where tokens share a character: the first shows it, the others a sign that it goes on.
function wholeCharacters(bytes, ends) {
  const drawn = [];
  for (let i = 0, start = 0; i < ends.length; ) {
    let last = i;
    while (last < ends.length - 1 && decoded(bytes.subarray(start, ends[last])) === null) last++;
    const whole = decoded(bytes.subarray(start, ends[last]));
    if (last > i && whole !== null) {
      drawn[i] = whole;
      for (let part = i + 1; part <= last; part++) drawn[part] = GOES_ON;
    }
    start = ends[last];
    i = last + 1;
  }
  return drawn;
}

function spansOf(pieces) {
  const spans = document.createDocumentFragment();
  for (const { shown, drawn, colour } of pieces) {
    const span = document.createElement("span");
    span.textContent = drawn ?? shown;
    if (colour !== undefined) span.className = `t${colour}`;
    spans.append(span);
  }
  return spans;
}
