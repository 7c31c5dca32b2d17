// Lets a range of time be dragged on the charts with `data-brush`, and opens its address with the range.
for (const chart of document.querySelectorAll<HTMLElement>("[data-brush]")) {
  for (const canvas of chart.querySelectorAll<HTMLElement>(".canvas")) enableBrush(chart, canvas)
}

function enableBrush(chart: HTMLElement, canvas: HTMLElement): void {
  const { brush = "", from = "", to = "" } = chart.dataset
  // Where the time axis begins and ends, from 0 to 1.
  const width = Number(canvas.dataset["width"])
  const left = Number(chart.dataset["left"]) / width
  const right = 1 - Number(chart.dataset["right"]) / width
  const selection = document.createElement("div")
  selection.dataset["selection"] = ""
  let begin: number | undefined

  /** Where the pointer is between the ends of the time axis, from 0 to 1. */
  const shareAt = ({ clientX }: PointerEvent): number => {
    const box = canvas.getBoundingClientRect()
    const share = (clientX - box.left) / box.width
    return Math.min(1, Math.max(0, (share - left) / (right - left)))
  }
  const timeAt = (share: number): number => Number(from) + share * (Number(to) - Number(from))
  const percent = (share: number): number => 100 * (left + share * (right - left))

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return
    begin = shareAt(event)
    canvas.setPointerCapture(event.pointerId)
    event.preventDefault()
  })
  canvas.addEventListener("pointermove", (event) => {
    if (begin === undefined) return
    const end = shareAt(event)
    canvas.append(selection)
    selection.style.left = `${percent(Math.min(begin, end))}%`
    selection.style.width = `${percent(Math.max(begin, end)) - percent(Math.min(begin, end))}%`
  })
  const stop = (): void => {
    begin = undefined
    selection.remove()
  }
  canvas.addEventListener("pointercancel", stop)
  canvas.addEventListener("pointerup", (event) => {
    if (begin === undefined) return
    const shares = [begin, shareAt(event)].sort((a, b) => a - b)
    stop()
    // A click is not a range.
    if (shares[1]! - shares[0]! < 0.005) return
    const address = new URL(brush, location.href)
    address.searchParams.set("from", new Date(timeAt(shares[0]!)).toISOString())
    address.searchParams.set("to", new Date(timeAt(shares[1]!)).toISOString())
    location.assign(address)
  })
}
