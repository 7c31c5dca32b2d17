const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" }

/** Returns the text that markup shows, unchanged. */
export const shownOf = (markup: string): string =>
  markup
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/&(?:#(\d+)|([#\w]+));/g, (_, code, name) => (code ? String.fromCharCode(Number(code)) : NAMED[name]!))

/** Returns a page's code by label, as a reader copies it. */
export const samplesOf = (page: string): ReadonlyMap<string, string> =>
  new Map(
    [...page.matchAll(/aria-label="([^"]*)"><code>(.*?)<\/code>/gs)].map(([, label, shown]) => [
      label!,
      `${shownOf(shown!)}\n`,
    ]),
  )
