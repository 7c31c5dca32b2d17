// Copies the text of a button's `data-copy`. Without a clipboard, as without TLS, it selects the text before the button.
document.addEventListener("click", async ({ target }) => {
  const button = target instanceof Element ? target.closest<HTMLElement>("[data-copy]") : null
  if (button === null) return
  try {
    await navigator.clipboard.writeText(button.dataset["copy"] ?? "")
    button.ariaLabel = "Copied"
    setTimeout(() => {
      button.ariaLabel = "Copy"
    }, 2000)
  } catch {
    if (button.previousElementSibling !== null) getSelection()?.selectAllChildren(button.previousElementSibling)
  }
})
