// A button on every block that is typed; blocks of output have none.
document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("div[class*='highlight-']:not(.highlight-text) > .highlight")) {
    const button = document.createElement("button");
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", () => {
      const range = document.createRange();
      range.selectNodeContents(block.querySelector("pre"));
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      // The older way: it also works on pages that are opened as files.
      document.execCommand("copy");
      selection.removeAllRanges();
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    block.append(button);
  }
});
