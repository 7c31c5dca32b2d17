// Reloads elements while the page is visible. `data-refresh` is the interval in seconds.
// An element with the focus or an open card isn't reloaded meanwhile.
// An element whose new version has no `data-refresh` isn't reloaded again.
const isInUse = (element: Element): boolean =>
  element.contains(document.activeElement) || element.querySelector(".more[open]") !== null

const renew = async (id: string): Promise<void> => {
  const element = document.getElementById(id)
  if (element === null) return
  if (!document.hidden && !isInUse(element)) {
    const response = await fetch(location.href).catch(() => undefined)
    if (response?.ok) {
      const page = new DOMParser().parseFromString(await response.text(), "text/html")
      const renewed = page.getElementById(id)
      if (renewed === null) return
      element.replaceWith(renewed)
      document.dispatchEvent(new Event("renewed"))
    }
  }
  start(id)
}

const start = (id: string): void => {
  const seconds = Number(document.getElementById(id)?.dataset["refresh"])
  if (seconds > 0) setTimeout(() => void renew(id), seconds * 1000)
}

for (const { id } of document.querySelectorAll<HTMLElement>("[data-refresh]")) start(id)
