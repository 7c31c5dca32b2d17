// Renews the texts of elements with `data-live` by the values of their names, which the server sends while the page is open.
const elements = document.querySelectorAll<HTMLElement>("[data-live]")

if (elements.length > 0) {
  // The browser connects again by itself.
  const source = new EventSource("/live")
  source.addEventListener("message", ({ data }) => {
    const values = JSON.parse(data) as Readonly<Record<string, string>>
    for (const element of elements) {
      const text = values[element.dataset["live"] ?? ""]
      if (text !== undefined && text !== element.textContent) element.textContent = text
    }
  })
  addEventListener("pagehide", () => source.close())
}
