// Where a page was opened from the file system: no fetching, and notebooks saved out of scripts.
if (location.protocol === "file:") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

  window.saveNotebook = (name, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/x-ipynb+json" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest("article a[download]");
    if (!link) return;
    event.preventDefault();
    const script = document.createElement("script");
    script.src = link.href.replace("/_downloads/", "/_static/") + ".js";
    script.onload = () => script.remove();
    script.onerror = () => { location.href = link.href; };
    document.head.append(script);
  });
}
