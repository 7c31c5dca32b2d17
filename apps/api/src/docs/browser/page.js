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
const [, given] = /^#key=(orp_(?:live|test)_[0-9A-Za-z_]{20,80})$/.exec(location.hash) ?? []
let key = given ?? null
if (given) history.replaceState(null, "", location.pathname + location.search)
try {
  if (given) sessionStorage.setItem("key", given)
  else key = sessionStorage.getItem("key")
} catch {}
if (key) {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const text = /** @type {Text} */ (texts.currentNode)
    if (text.parentElement?.closest("pre")) text.data = text.data.replaceAll("orp_test_…", key)
  }
  status.textContent = "Your key is filled in, in this tab alone."
}

// If cookies are blocked, storage throws: then the choice lasts until the page is closed.
const languages = [...document.querySelectorAll(".languages summary")]
const choose = (/** @type {string | null} */ name) => {
  for (const { textContent, parentElement } of languages) {
    if (textContent === name) parentElement?.setAttribute("open", "")
  }
}
try {
  choose(localStorage.getItem("language"))
} catch {}
for (const language of languages) {
  language.addEventListener("click", (event) => {
    event.preventDefault()
    choose(language.textContent)
    try {
      localStorage.setItem("language", language.textContent)
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
