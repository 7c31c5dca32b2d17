/**
 * The pages: path below /docs, title, and parts with id, heading and text. Inserted by the server.
 * @type {Array<[path: string, title: string, parts: Array<[id: string, heading: string, text: string]>]>}
 */
const INDEX = []

const parts = INDEX.flatMap(([path, page, parts]) =>
  parts.map(([id, heading, text]) => ({ href: `${path}${id && "#"}${id}`, page, heading, text })),
)

// The changelog mentions everything, so its matches rank lower.
const rankOf = (/** @type {{ href: string }} */ { href }) => (href.startsWith("/changelog") ? 0.2 : 1)

/**
 * Weighs a match of a term in a text: whole word, start of a word, within a word.
 * @param {string} text
 * @param {string} term
 */
const weigh = (text, term) => {
  const at = ` ${text.toLowerCase()} `.split(term)
  if (at.length === 1) return 0
  const begins = at.findIndex((before, i) => i < at.length - 1 && /[^a-z0-9]$/.test(before))
  if (begins < 0) return 1
  return /^[^a-z0-9]/.test(at[begins + 1] ?? "") ? 4 : 3
}

/**
 * Returns the parts that contain every term of a query, the best matches first.
 * @public for its test, which reads the served script
 * @param {string} query
 */
export const search = (query) => {
  const terms = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (terms.length === 0) return []
  return parts
    .flatMap((part) => {
      const weights = terms.map(
        (term) => 8 * weigh(part.heading, term) + 2 * weigh(part.page, term) + weigh(part.text, term),
      )
      return weights.includes(0) ? [] : [{ part, weight: rankOf(part) * weights.reduce((sum, one) => sum + one) }]
    })
    .sort((a, b) => b.weight - a.weight)
    .slice(0, 10)
    .map(({ part }) => part)
}

/**
 * Returns an excerpt around the first term of a query.
 * @param {string} text
 * @param {string} query
 */
const excerpt = (text, query) => {
  const at = text.toLowerCase().indexOf(query.toLowerCase().trim().split(/\s+/)[0] ?? "")
  const from = at < 60 ? 0 : text.indexOf(" ", at - 50) + 1
  const [words] = /^.{0,130}(?!\S)/.exec(text.slice(from)) ?? [""]
  return `${from === 0 ? "" : "… "}${words}${from + words.length < text.length ? " …" : ""}`
}

/**
 * @param {string} name
 * @param {Array<string | Node>} children
 */
const element = (name, ...children) => {
  const made = document.createElement(name)
  made.append(...children)
  return made
}

/**
 * Shows search results below a field, with keyboard navigation.
 * @param {HTMLInputElement} field
 * @param {HTMLElement} status
 */
export const connect = (field, status) => {
  const around = /** @type {HTMLElement} */ (field.parentElement)
  const results = /** @type {HTMLElement} */ (document.getElementById("results"))
  const docs = new URL("../../docs", import.meta.url).href
  const show = () => {
    const found = search(field.value)
    const isAsked = field.value.trim() !== ""
    results.hidden = !isAsked
    status.textContent = isAsked ? `${found.length || "Nothing"} found` : ""
    results.replaceChildren(
      ...found.map(({ href, page, heading, text }) => {
        const link = element("a", heading, " ", element("small", heading === page ? "" : page))
        link.setAttribute("href", docs + href)
        return element("li", link, element("p", excerpt(text, field.value)))
      }),
      ...(found.length === 0 ? [element("li", "Nothing found. The pages are listed above.")] : []),
    )
  }
  const close = () => {
    field.value = ""
    show()
  }
  const leave = (/** @type {EventTarget | null} */ target) => {
    if (target instanceof Node && !around.contains(target)) results.hidden = true
  }
  addEventListener("pointerdown", ({ target }) => leave(target))
  around.addEventListener("focusout", ({ relatedTarget }) => leave(relatedTarget))
  field.onfocus = field.oninput = show
  results.onclick = ({ target }) => {
    if (/** @type {Element} */ (target).closest("a")) close()
  }
  around.onkeydown = (event) => {
    const stops = [field, ...results.querySelectorAll("a")]
    const at = stops.findIndex((stop) => stop.matches(":focus"))
    const { key } = event
    if (key === "Escape") {
      field.focus()
      close()
    } else if (key === "Enter" && at === 0) stops[1]?.click()
    else if (key === "ArrowDown") stops[at + 1]?.focus()
    else if (key === "ArrowUp") stops[at - 1]?.focus()
    else return
    event.preventDefault()
  }
  show()
}
