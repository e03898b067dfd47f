// Words, or runs of words: each word goes through merges and drops in the order of the steps; then words that are one
// token are joined. What a step joins may fall apart by a later one, so a word is followed through all of them.
class ByRuns {
  constructor(tokens, { inside, across, into_bytes }) {
    this.tokens = tokens;
    this.intoBytes = into_bytes;
    this.splitter = new Splitter(inside);
    this.joins = new Map(); // the steps within words that join a pair
    this.supermerges = new Map(); // the step across words
    this.drops = new Map(); // the steps that drop a token
    this.left = new Map(); // what each of these leaves
    this.lengths = new Array(tokens.base).fill(1); // of each token in base symbols
    for (const step of tokens.stepOfJoined) this.lengths.push(this.lengths[tokens.left[step]] + this.lengths[tokens.right[step]]);
    const isAcross = new Set(addedUp(across)), inUse = new Set();
    tokens.idOfStep.forEach((id, step) => {
      const key = pairKey(tokens.left[step], tokens.right[step]);
      if (tokens.right[step] !== DROPPED) inUse.add(id);
      else {
        inUse.delete(id);
        this.drops.set(id, [...(this.drops.get(id) ?? []), step]);
        this.left.set(step, this.fallen(id, inUse));
        return;
      }
      if (isAcross.has(step)) this.supermerges.set(key, step);
      else this.joins.set(key, [...(this.joins.get(key) ?? []), step]);
    });
  }

  fallen(id, inUse) {
    const stays = (half) => half < this.tokens.base || (!this.intoBytes && inUse.has(half));
    return this.tokens.parts(id).flatMap((half) => (stays(half) ? [half] : this.fallen(half, inUse)));
  }

  spelled(run) {
    const words = this.splitter.words(run).map(([start, end]) => this.tokens.spelled(run.slice(start, end)));
    return { words: words.map(({ ids }) => this.followed(ids)), ends: endsOf(words.flatMap(({ widths }) => widths)) };
  }

  // The tokens of a word from one number of steps to the next at which they change.
  followed(ids) {
    const states = [{ since: 0, ids }];
    for (let last = this.next(ids, -1); last < NEVER; last = this.next(ids, last)) {
      ids = this.after(ids, last);
      states.push({ since: last + 1, ids });
    }
    return states;
  }

  // The first step behind the last one that changes these tokens.
  next(ids, last) {
    const behind = (steps) => steps?.find((step) => step > last) ?? NEVER;
    const found = ids.map((id, i) => Math.min(behind(this.drops.get(id)), i ? behind(this.joins.get(pairKey(ids[i - 1], id))) : NEVER));
    return Math.min(NEVER, ...found);
  }

  after(ids, step) {
    const { left, right, idOfStep } = this.tokens, found = [];
    if (right[step] === DROPPED) return ids.flatMap((id) => (id === left[step] ? this.left.get(step) : [id]));
    for (let i = 0; i < ids.length; i++) {
      const joins = ids[i] === left[step] && ids[i + 1] === right[step];
      found.push(joins ? idOfStep[step] : ids[i]);
      if (joins) i++;
    }
    return found;
  }

  cut(spelled, at) {
    const ids = [];
    let since = 0, until = NEVER, whole = [];
    const join = () => {
      for (let found = this.ready(whole); found; found = this.ready(whole)) {
        if (found.step >= at) {
          until = Math.min(until, found.step + 1);
          break;
        }
        since = Math.max(since, found.step + 1);
        whole.splice(found.place - 1, 2, this.tokens.idOfStep[found.step]);
      }
      ids.push(...whole);
      whole = [];
    };
    for (const states of spelled.words) {
      const place = states.findLastIndex((state) => state.since <= at), now = states[place];
      since = Math.max(since, now.since);
      until = Math.min(until, states[place + 1]?.since ?? NEVER);
      if (now.ids.length === 1) whole.push(now.ids[0]);
      else {
        join();
        ids.push(...now.ids);
      }
    }
    join();
    const ends = endsOf(ids.map((id) => this.lengths[id])).map((stop) => spelled.ends[stop - 1]);
    return { ids, ends, since, until, reasons: ends.map((end) => () => this.joinedBy(spelled, end, until)) };
  }

  // The first supermerge of these words, by its step, and then by its place.
  ready(whole) {
    let found = null;
    for (let place = 1; place < whole.length; place++) {
      const step = this.supermerges.get(pairKey(whole[place - 1], whole[place]));
      if (step !== undefined && (!found || step < found.step)) found = { step, place };
    }
    return found;
  }

  // The first step from some number of them on that joins what meets at a place.
  joinedBy(spelled, end, at) {
    while (at < NEVER) {
      const { ends, until } = this.cut(spelled, at);
      if (!ends.includes(end)) return at - 1;
      at = until;
    }
    return NEVER;
  }

  get whyNot() {
    return "no later step of this run joins across it.";
  }
}

WAYS.runs = ByRuns;
