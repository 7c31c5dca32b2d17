// Previews a form during typing: the button that was used last submits the form to the frame.
const TYPING_PAUSE_MS = 400

for (const first of document.querySelectorAll<HTMLButtonElement>("[data-preview]")) {
  const { form } = first
  if (form === null || form.dataset["previewed"] !== undefined) continue
  form.dataset["previewed"] = ""
  let [last, timer] = [first, 0]
  form.addEventListener("submit", ({ submitter }) => {
    if (!(submitter instanceof HTMLButtonElement) || submitter.dataset["preview"] === undefined) return
    last = submitter
    // A new frame, because each document in the same frame would be a step of the back button.
    const frame = document.querySelector<HTMLIFrameElement>(`iframe[name="${last.formTarget}"]`)
    const next = frame?.cloneNode() as HTMLIFrameElement | undefined
    next?.removeAttribute("src")
    if (next !== undefined) frame?.replaceWith(next)
  })
  form.addEventListener("input", () => {
    clearTimeout(timer)
    timer = setTimeout(() => form.requestSubmit(last), TYPING_PAUSE_MS)
  })
}
