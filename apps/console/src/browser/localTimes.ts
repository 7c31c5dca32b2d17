// Shows times in the zone of the viewer, and asks for them in it. What is sent, and each address, stays in UTC.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
// The Swedish form is the one that sorts.
const local = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium", timeZone: zone })

const showTimes = (): void => {
  for (const element of document.querySelectorAll<HTMLElement>("time [data-local]")) {
    const at = element.closest("time")?.dateTime
    if (at !== undefined) element.textContent = local.format(new Date(at))
  }
}

for (const element of document.querySelectorAll<HTMLElement>("[data-zone]")) {
  element.textContent = element.textContent.replace("UTC", zone)
}
for (const input of document.querySelectorAll<HTMLInputElement>("input[data-instant]")) {
  if (input.value !== "") input.value = local.format(new Date(`${input.value}Z`)).replace(" ", "T")
}
document.addEventListener("formdata", ({ target, formData }) => {
  for (const { name, value } of (target as Element).querySelectorAll<HTMLInputElement>("input[data-instant]")) {
    // Without a zone, a browser reads a time in that of the viewer.
    if (value !== "") formData.set(name, new Date(value).toISOString())
  }
})
document.addEventListener("renewed", showTimes)
showTimes()
