// Counts down to the times of elements with `data-until`, in Unix milliseconds.
const elements = document.querySelectorAll<HTMLElement>("[data-until]")

const show = (): void => {
  for (const element of elements) {
    const seconds = Math.round((Number(element.dataset["until"]) - Date.now()) / 1000)
    const minutes = Math.floor(seconds / 60)
    element.textContent = seconds <= 0 ? "now" : minutes > 0 ? `in ${minutes} min ${seconds % 60} s` : `in ${seconds} s`
  }
}

if (elements.length > 0) {
  show()
  setInterval(show, 1000)
}
