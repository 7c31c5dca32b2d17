// Submits a form only once after a double click, and focuses the search with the key `/`.
document.addEventListener("submit", (event) => {
  if ((event.submitter as HTMLButtonElement | null)?.dataset["preview"] !== undefined) return
  const { dataset } = event.target as HTMLFormElement
  if (dataset["sent"] === undefined) dataset["sent"] = ""
  else event.preventDefault()
})
// A download, like the back button, returns to this page.
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
