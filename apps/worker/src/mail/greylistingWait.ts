/** What greylisting calls itself; 4.7.1 with nothing but the request to try later is how the filters of Plesk and Rspamd say it. */
const GREYLISTING =
  /gr[ae]y-?list|4\.7\.1 (service unavailable\W+)?(please )?(try|come back) (again )?later|internal resource temporarily unavailable|not yet authorized to deliver/i

const NAMED_WAIT =
  /\b(?:in|for|wait|after)\s+(?:(?:(\d{1,2}):)?(\d{1,2}):(\d{2})\b|(\d{1,5})\s*(s|sec|secs|seconds?|m|mins?|minutes?|h|hours?)\b)/i

const UNIT_SECONDS = { s: 1, m: 60, h: 3600 } as const

/** How long greylisting that names no wait keeps a sender waiting: the default of postgrey, and the most that most others ask. */
const USUAL_SECONDS = 300

/** A reply that names more than four hours means something else. */
const MAX_SECONDS = 14_400

/** Returns how many seconds a reply for now asks to wait because it is greylisting, at least one; undefined if it is not. */
export const greylistingWait = (text: string): number | undefined => {
  if (!GREYLISTING.test(text)) return undefined
  const named = NAMED_WAIT.exec(text)
  if (named === null) return USUAL_SECONDS
  const [, hours, minutes, seconds, count, unit] = named
  const wait =
    count === undefined
      ? Number(hours ?? 0) * 3600 + Number(minutes) * 60 + Number(seconds)
      : Number(count) * UNIT_SECONDS[unit!.toLowerCase().charAt(0) as keyof typeof UNIT_SECONDS]
  return wait > MAX_SECONDS ? USUAL_SECONDS : Math.max(1, wait)
}
