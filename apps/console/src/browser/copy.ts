// Copies the text of a button's `data-copy`, or the whole address of a path. Without a clipboard, as without TLS, it selects the text before the button.
document.addEventListener("click", async ({ target }) => {
  const button = target instanceof Element ? target.closest<HTMLElement>("[data-copy]") : null
  if (button === null) return
  try {
    const text = button.dataset["copy"] ?? ""
    await navigator.clipboard.writeText(text.startsWith("/") ? new URL(text, location.href).href : text)
    button.ariaLabel = "Copied"
    setTimeout(() => {
      button.ariaLabel = "Copy"
    }, 2000)
  } catch {
    if (button.previousElementSibling !== null) getSelection()?.selectAllChildren(button.previousElementSibling)
  }
})
