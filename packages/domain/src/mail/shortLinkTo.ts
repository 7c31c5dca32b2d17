/** Puts a token into the partner's own link, in the place that `{token}` keeps. */
export const shortLinkTo = (shortLink: string, token: string): string => shortLink.replace("{token}", token)
