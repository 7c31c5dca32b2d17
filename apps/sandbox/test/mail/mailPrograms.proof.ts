import { caniemail, groupIssues, sortIssues } from "caniemail"
import { expect, it } from "vitest"
import { composedMails } from "./composedMails.ts"

/** Mail programs of clinicians. Excluded: Windows Mail, which was discontinued, and Gmail's page for old phones, which ignores style sheets. */
const CLIENTS = [
  ...(["gmail.android", "gmail.desktop-webmail", "gmail.ios", "outlook.android", "outlook.ios"] as const),
  ...(["outlook.macos", "outlook.outlook-com", "outlook.windows", "apple-mail.*", "yahoo.*"] as const),
  "samsung-email.android",
] as const

/** Unsupported features, with the reason why they aren't a problem. */
const ACCEPTED: Readonly<Record<string, string>> = {
  "color-scheme CSS property":
    "says that there are dark colours; where it is not read, those are not, or the program makes its own",
  "color-scheme meta tag": "the same",
  "<body> element": "becomes another element; the table within repeats its colours",
  "border-radius": "corners are square instead",
}

it.each(composedMails)(
  "%s uses nothing that a mail program does not support, except what does no harm",
  (_, { html }) => {
    const { issues } = caniemail({ clients: [...CLIENTS], html })
    const unsupported = sortIssues(groupIssues(issues.errors)).filter(({ issue }) => !(issue.title in ACCEPTED))
    expect(unsupported.map(({ issue, clients }) => `${issue.title}: ${clients.join(", ")}`)).toEqual([])
  },
)
