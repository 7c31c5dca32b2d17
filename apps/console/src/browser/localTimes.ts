// Shows and accepts times in the viewer's zone or in UTC, as the viewer chose. Submitted values and URLs are in UTC.
const ofViewer = Intl.DateTimeFormat().resolvedOptions().timeZone
const isUtc = localStorage.getItem("zone") === "UTC"
const zone = isUtc ? "UTC" : ofViewer
// The Swedish format is sortable.
const local = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium", timeZone: zone })

/** The format of a time. On an axis: the time of day, and the date at midnight. */
const FORMS: Readonly<Record<string, (text: string) => string>> = {
  minute: (text) => text.slice(0, 16),
  tick: (text) => (text.slice(11, 16) === "00:00" ? text.slice(5, 10) : text.slice(11, 16)),
}

const showTimes = (): void => {
  for (const element of document.querySelectorAll<HTMLElement | SVGElement>("[data-local]")) {
    const at = element.dataset["at"] ?? element.closest("time")?.dateTime
    const text = at === undefined ? "" : local.format(new Date(at))
    if (text === "") continue
    element.textContent = FORMS[element.dataset["local"] ?? ""]?.(text) ?? text
    element.closest("time")?.setAttribute("title", `${text} ${zone}`)
  }
}

for (const element of document.querySelectorAll<HTMLElement>("[data-zone]")) {
  element.textContent = element.textContent.replace("UTC", zone)
}
for (const button of document.querySelectorAll<HTMLButtonElement>("[data-zone-switch]")) {
  button.hidden = ofViewer === "UTC"
  button.textContent = isUtc ? "Show local times" : "Show UTC"
  button.addEventListener("click", () => {
    if (isUtc) localStorage.removeItem("zone")
    else localStorage.setItem("zone", "UTC")
    location.reload()
  })
}
for (const input of document.querySelectorAll<HTMLInputElement>("input[data-instant]")) {
  if (input.value !== "") input.value = local.format(new Date(`${input.value}Z`)).replace(" ", "T")
}
document.addEventListener("formdata", ({ target, formData }) => {
  for (const { name, value } of (target as Element).querySelectorAll<HTMLInputElement>("input[data-instant]")) {
    // A browser reads a time without a zone in the viewer's zone.
    if (value !== "") formData.set(name, new Date(isUtc ? `${value}Z` : value).toISOString())
  }
})
document.addEventListener("renewed", showTimes)
showTimes()
