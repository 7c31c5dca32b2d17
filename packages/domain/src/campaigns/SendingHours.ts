import { Schema } from "effect"

/** Two time zones of one state are an hour apart, so within two hours there is a time in both. */
const MIN_HOURS = 2

/**
 * The hours of a recipient's local day in which a campaign's e-mails go out, such as `8-18`: from the first, inclusive, to the second,
 * exclusive.
 */
export const SendingHours = Schema.String.check(
  Schema.makeFilter((text) => {
    const [, from, to] = /^(\d{1,2})-(\d{1,2})$/.exec(text) ?? []
    return from !== undefined && Number(from) + MIN_HOURS <= Number(to) && Number(to) <= 24
  }),
).pipe(
  Schema.annotate({
    expected: `hours such as 8-18: two numbers from 0 to 24, the second greater by ${MIN_HOURS} at least`,
  }),
)
export type SendingHours = typeof SendingHours.Type
