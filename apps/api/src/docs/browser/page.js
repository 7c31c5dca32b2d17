// Progressive enhancement: every page works without this script.
const status = /** @type {HTMLElement} */ (document.querySelector("[role=status]"))

for (const pre of document.querySelectorAll("pre")) {
  const button = document.createElement("button")
  const name = `Copy ${pre.ariaLabel}`
  button.append("Copy")
  button.ariaLabel = name
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent)
    } catch {
      // Browsers provide no clipboard without TLS.
      getSelection()?.selectAllChildren(pre)
      document.execCommand("copy")
    }
    button.textContent = button.ariaLabel = status.textContent = "Copied"
    setTimeout(() => {
      button.textContent = "Copy"
      button.ariaLabel = name
      status.textContent = ""
    }, 2000)
  }
  pre.after(button)
}

// The console passes a key in the fragment, which browsers don't send. It stays in this tab and isn't added to the history.
const { hash } = location
if (hash.startsWith("#key=")) history.replaceState(null, "", location.pathname + location.search)
const input = /** @type {HTMLInputElement | null} */ (document.querySelector(".key input"))
if (input) {
  const { placeholder, pattern } = input
  const [, given] = new RegExp(`^#key=(${pattern})$`).exec(hash) ?? []
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  /** @type {Array<{ text: Text, shown: string }>} */
  const blanks = []
  while (texts.nextNode()) {
    const text = /** @type {Text} */ (texts.currentNode)
    if (text.data.includes(placeholder) && text.parentElement?.closest("pre")) blanks.push({ text, shown: text.data })
  }
  const fill = (/** @type {string} */ value) => {
    input.value = value
    const key = input.validity.valid ? value : ""
    for (const { text, shown } of blanks) text.data = shown.replaceAll(placeholder, key || placeholder)
    status.textContent = key && "Your key is filled in, only in this tab."
    try {
      if (key) sessionStorage.setItem("apiKey", key)
      else sessionStorage.removeItem("apiKey")
    } catch {}
  }
  let stored = null
  try {
    stored = sessionStorage.getItem("apiKey")
  } catch {}
  fill(given ?? stored ?? "")
  input.oninput = () => fill(input.value.trim())
  input.onchange = () => input.reportValidity()
  document.querySelector(".key button")?.addEventListener("click", () => fill(""))
  input.closest("p")?.removeAttribute("hidden")
}

// If cookies are blocked, storage throws: then the choices last until the page is closed.
const tabs = [...document.querySelectorAll(".tabs summary")]
const choose = (/** @type {string} */ name) => {
  for (const { textContent, parentElement } of tabs) {
    if (textContent === name) parentElement?.setAttribute("open", "")
  }
}
// The last choice comes last: a language, and a framework.
/** @type {Array<string>} */
let chosen = []
try {
  chosen = JSON.parse(localStorage.getItem("tabs") ?? "[]")
  chosen.forEach(choose)
} catch {}
for (const tab of tabs) {
  tab.addEventListener("click", (event) => {
    event.preventDefault()
    const { top } = tab.getBoundingClientRect()
    choose(tab.textContent)
    // The same choice above changes the height of the page.
    scrollBy(0, tab.getBoundingClientRect().top - top)
    chosen = [...chosen.filter((name) => name !== tab.textContent), tab.textContent].slice(-4)
    try {
      localStorage.setItem("tabs", JSON.stringify(chosen))
    } catch {}
  })
}

const links = /** @type {Array<HTMLAnchorElement>} */ ([...document.querySelectorAll(".outline a")])
const mark = () => {
  const hasPassed = (/** @type {HTMLAnchorElement} */ { hash }) =>
    Number(document.getElementById(decodeURIComponent(hash.slice(1)))?.getBoundingClientRect().top) < 150
  const isAtEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 4
  const chosen = isAtEnd ? links.findIndex(({ hash }) => hash === location.hash) : -1
  const current = links[chosen < 0 ? links.findLastIndex(hasPassed) : chosen]
  if (current?.ariaCurrent) return
  for (const link of links) link.ariaCurrent = link === current ? "true" : null
  current?.scrollIntoView({ block: "nearest" })
}
for (const type of ["scroll", "hashchange"])
  addEventListener(type, () => requestAnimationFrame(mark), { passive: true })
mark()
