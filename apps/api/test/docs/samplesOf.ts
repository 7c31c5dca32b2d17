const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" }

/** Returns what markup shows, as it stands there. */
export const shownOf = (markup: string): string =>
  markup
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/&(?:#(\d+)|([#\w]+));/g, (_, code, name) => (code ? String.fromCharCode(Number(code)) : NAMED[name]!))

/** Returns the code that a page shows under each label, as whoever copies it gets it. */
export const samplesOf = (page: string): ReadonlyMap<string, string> =>
  new Map(
    [...page.matchAll(/aria-label="([^"]*)"><code>(.*?)<\/code>/gs)].map(([, label, shown]) => [
      label!,
      `${shownOf(shown!)}\n`,
    ]),
  )
