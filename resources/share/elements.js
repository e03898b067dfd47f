// Elements of a page. Whatever a run or a lesson holds becomes text of it, never markup.

function make(name, attributes = {}, ...content) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...content);
  return element;
}

function counted(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

function quoted(text) {
  return `“${text.length > 60 ? `${text.slice(0, 60)}…` : text}”`;
}

// Unpacks the data of the page, and shows them.
async function open(show) {
  window.page = show(await unpacked(document.getElementById("data").textContent.trim()));
  document.documentElement.dataset.ready = "yes";
}
