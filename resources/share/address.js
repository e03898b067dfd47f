// The address of a moment: the step and the text behind the "#" of the page's address.

const LONGEST_TEXT = 2000, WRITE_LATER = 250; // characters, because mail programs cut long addresses; milliseconds

class Address {
  constructor(page) {
    this.page = page;
    this.name = page.timeline.bySize ? "size" : "step";
    this.copy = make("button", { type: "button", id: "copy", onclick: () => this.copyIt() }, "Copy Address");
    this.said = make("output", { class: "muted", "aria-live": "polite" });
    addEventListener("hashchange", () => this.read());
  }

  // Shows the moment that the address names. What it does not name stays.
  read() {
    const named = new URLSearchParams(location.hash.slice(1));
    if (named.has("text")) this.page.setText(named.get("text"));
    if (/^\d{1,9}$/.test(named.get(this.name) ?? "")) this.page.goTo(this.page.timeline.placeAt(Number(named.get(this.name))));
  }

  get now() {
    const { timeline, input } = this.page;
    const named = new URLSearchParams({ [this.name]: timeline.place + timeline.first });
    if (input.value.length <= LONGEST_TEXT) named.set("text", this.page.text);
    return `#${named}`;
  }

  writeSoon() {
    this.said.textContent = "";
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.write(), WRITE_LATER);
  }

  write() {
    clearTimeout(this.waiting);
    history.replaceState(null, "", this.now);
  }

  async copyIt() {
    this.write();
    const isShort = this.page.input.value.length <= LONGEST_TEXT;
    try {
      await navigator.clipboard.writeText(location.href);
      this.said.textContent = isShort ? "The address is copied." : "The address is copied without the text, which is too long.";
    } catch {
      prompt("Copy this address", location.href); // the browser does not let the page copy
    }
  }
}
