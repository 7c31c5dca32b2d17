// Sends a form once, although its button is pressed twice, and leads to the search with the key `/`.
document.addEventListener("submit", (event) => {
  const { dataset } = event.target as HTMLFormElement
  if (dataset["sent"] === undefined) dataset["sent"] = ""
  else event.preventDefault()
})
// A download leaves the page, and so does going back to it.
const allowAll = (): void => {
  for (const form of document.querySelectorAll<HTMLElement>("form[data-sent]")) delete form.dataset["sent"]
}
addEventListener("pageshow", allowAll)
addEventListener("focus", allowAll)

document.addEventListener("keydown", (event) => {
  const isTyping = (event.target as Element).closest("input, select, textarea, [contenteditable]") !== null
  const search = document.querySelector<HTMLInputElement>("[data-search]")
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey || search === null) return
  event.preventDefault()
  search.focus()
})
