// Renews what the server sends while the page is open and looked at: the texts of elements with `data-live`, and the tones of those with
// `data-live-tone`, by the values of their names.
const texts = document.querySelectorAll<HTMLElement>("[data-live]")
const tones = document.querySelectorAll<HTMLElement>("[data-live-tone]")

/** How long to wait where the browser gives up: after a refusal, not after an interruption. */
const RETRY_MS = 30_000

let source: EventSource | undefined
let retry: ReturnType<typeof setTimeout> | undefined

const renew = ({ data }: MessageEvent<string>) => {
  const values = JSON.parse(data) as Readonly<Record<string, string>>
  for (const element of texts) {
    const text = values[element.dataset["live"] ?? ""]
    if (text !== undefined && text !== element.textContent) element.textContent = text
  }
  for (const element of tones) {
    const tone = values[`${element.dataset["liveTone"]}.tone`]
    if (tone === undefined) continue
    element.classList.remove("good", "warning", "bad", "neutral")
    element.classList.add(tone)
  }
}

const close = () => {
  clearTimeout(retry)
  source?.close()
  source = undefined
}

const open = () => {
  close()
  source = new EventSource("/live")
  source.addEventListener("message", renew)
  source.addEventListener("error", () => {
    if (source?.readyState === EventSource.CLOSED) retry = setTimeout(open, RETRY_MS)
  })
}

/** A page in the background holds none of the few connections that a browser has to one server. */
const follow = () => (document.visibilityState === "visible" ? open() : close())

if (texts.length > 0) {
  document.addEventListener("visibilitychange", follow)
  addEventListener("pagehide", close)
  addEventListener("pageshow", follow)
}
