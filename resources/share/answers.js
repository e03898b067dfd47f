// Whether an answer that was typed is the right one, whatever its spacing; and what is said of a guess.

const ROUNDING = 0.02; // how far a typed number may be from one that is no whole number
const ANY = "\0"; // in place of a pair that occurs nowhere
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(\/\d+)?$/;

function plainAnswer(answer) {
  const pieces = answer.replace(/[|+]/g, " ").split(/\s+/u).filter(Boolean);
  const whole = pieces.join("").replaceAll(",", "");
  return pieces.length === 1 && /^\d+$/.test(whole) ? whole : pieces.join(" ");
}

function numbersIn(answer) {
  const pieces = answer.split(/\s+/u).filter(Boolean);
  if (!pieces.every((one) => NUMBER.test(one) && !/\/0+$/.test(one))) return null;
  return pieces.map((one) => {
    const [above, below] = one.split("/");
    return Number(above) / Number(below ?? 1);
  });
}

function isAbout(given, right) {
  const [some, others] = [numbersIn(given), numbersIn(right)];
  if (!some || !others || some.length !== others.length) return false;
  return some.every((one, i) => {
    const far = Number.isInteger(others[i]) ? 0 : ROUNDING * Math.abs(others[i]);
    return Math.abs(one - others[i]) <= far;
  });
}

function isSameAnswer(given, right) {
  return plainAnswer(given) === plainAnswer(right) || isAbout(given, right);
}

function answered(step, given) {
  if (isSameAnswer(given, step.right)) return { mood: "right", sentence: `Right: ${step.right}` };
  const parts = [given, step.right].map((one) => one.split(/\s+/u).filter(Boolean));
  const off = step.cells.find((_, i) => i < parts[0].length && i < parts[1].length && !isSameAnswer(parts[0][i], parts[1][i]));
  const where = off === undefined ? "" : `Look again at ${off}.`;
  const why = Object.hasOwn(step.wrong, given) ? step.wrong[given] : step.hint;
  return { mood: "wrong", sentence: ["Not quite.", where, why].filter(Boolean).join(" ") };
}

// The guess as the engine writes it: two tokens, or one where the method drops or adds them. Nothing if it is neither.
function guessIn(step, typed) {
  const known = new Set(step.tokens), named = (text) => text.trim().replaceAll(" ", "␣");
  if (step.is_single) return Object.hasOwn(step.guesses, named(typed)) ? named(typed) : null;
  const bare = typed.replace(/^[+ ]+|[+ ]+$/g, "");
  const parts = bare.includes("+") ? typed.split("+").map(named) : typed.split(/\s+/u).filter(Boolean);
  return parts.length === 2 && parts.every((one) => known.has(one)) ? parts.join(" + ") : null;
}

// What the engine says of a guess, while there is another try or for the last time.
function judged(step, guess, isLast) {
  const said = Object.hasOwn(step.guesses, guess) ? step.guesses[guess] : step.elsewhere;
  const { mood, sentence } = said[isLast ? 1 : 0];
  return { mood, sentence: sentence.replace(ANY, guess) };
}
