/** Returns the code that a page shows under each label, as whoever copies it gets it. */
export const samplesOf = (page: string): ReadonlyMap<string, string> =>
  new Map(
    [...page.matchAll(/aria-label="([^"]*)"><code>(.*?)<\/code>/gs)].map(([, label, shown]) => [
      label!,
      `${shown!.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))}\n`,
    ]),
  )
