import { LinkifyIt } from "linkify-it"
import type { RecipientRef, TrackingLinks } from "../hits/TrackingLinks.ts"
import type { TemplateVariables } from "../TemplateVariables.ts"
import type { MessageTemplate } from "./Message.ts"
import { cutAtLinks, trackingOf } from "./rewriteLinks.ts"
import { compileTemplate } from "./Template.ts"

// Only what begins with a scheme: a name with a dot may be anything.
const linkify = new LinkifyIt({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })

/**
 * Reads a campaign's own text part once; the result composes it to one recipient. Its links are tracked as those of the HTML, and stay as
 * they are where the HTML excludes the same address.
 */
export const composeText = (
  text: string,
  { html }: Pick<MessageTemplate, "html">,
  links: TrackingLinks["Service"],
): ((to: RecipientRef, variables: TemplateVariables) => string) => {
  const render = compileTemplate(text, "text")
  const excludedLinks = cutAtLinks(html).pieces.flatMap(([, mark]) =>
    mark !== "pixel" && mark.isExcluded ? [mark.href] : [],
  )
  return (to, variables) => {
    const excluded = new Set(excludedLinks.map((link) => renderLink(link, variables)))
    const track = trackingOf(to, links)
    return replaceLinks(render(variables), (href) => (excluded.has(href) ? undefined : track(href)))
  }
}

/** Renders the address of a link; undefined where a part of a template is not an address on its own, or the recipient lacks a field. */
const renderLink = (href: string, variables: TemplateVariables): string | undefined => {
  try {
    return compileTemplate(href, "text")(variables).trim()
  } catch {
    return undefined
  }
}

/** Replaces each link by what `replace` returns; one for which that is undefined stays. */
const replaceLinks = (text: string, replace: (href: string) => string | undefined): string => {
  let replaced = ""
  let copied = 0
  for (const { index, lastIndex, url } of linkify.match(text) ?? []) {
    replaced += text.slice(copied, index) + (replace(url) ?? text.slice(index, lastIndex))
    copied = lastIndex
  }
  return replaced + text.slice(copied)
}
