// Renews elements while the page is looked at, by their fragments of the page. `data-refresh` says every how many seconds.
// An element whose new version lacks `data-refresh` is renewed for the last time.
const isFocused = (element: Element): boolean => element.contains(document.activeElement)

const renew = async (id: string): Promise<void> => {
  const element = document.getElementById(id)
  if (element === null) return
  if (!document.hidden && !isFocused(element)) {
    const response = await fetch(location.href, { headers: { fragment: id } }).catch(() => undefined)
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
