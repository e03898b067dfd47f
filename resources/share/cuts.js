// From a word to tokens, after any number of steps. Each way of cutting has a file with a class; all return the ids,
// where each token ends in the bytes of the word, and between which steps the cut stays the same.

const NEVER = Infinity, SIDE = 2 ** 22;

function pairKey(left, right) {
  return left * SIDE + right;
}

// The smallest number first.
class Heap {
  constructor() {
    this.items = [];
  }

  push(item) {
    const items = this.items;
    let place = items.length;
    for (; place > 0 && items[(place - 1) >> 1] > item; place = (place - 1) >> 1) items[place] = items[(place - 1) >> 1];
    items[place] = item;
  }

  pop() {
    const items = this.items, top = items[0], last = items.pop();
    if (!items.length) return top;
    let place = 0;
    for (let child = 1; child < items.length; child = 2 * place + 1) {
      if (child + 1 < items.length && items[child + 1] < items[child]) child++;
      if (items[child] >= last) break;
      items[place] = items[child];
      place = child;
    }
    items[place] = last;
    return top;
  }
}

const PLACES = 2 ** 26; // a heap entry is priority * PLACES + place

function endsOf(widths) {
  let end = 0;
  return widths.map((width) => (end += width));
}

const WAYS = {};
