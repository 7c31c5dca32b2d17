import type { DigestDay } from "@outreach/postgres/digest/DigestReader"

/** The counts of a day that a heat map can show, by their names in the address. */
export const DIGEST_COUNTS = {
  sent: { title: "Sent", of: ({ outreach }: DigestDay) => outreach.sent },
  published: { title: "Published", of: ({ outreach }: DigestDay) => outreach.recipients_published },
  bounced: { title: "Bounced", of: ({ outreach }: DigestDay) => outreach.bounced },
  opened: {
    title: "Opened, without suspected bots",
    of: ({ outreach }: DigestDay) => outreach.without_suspected_bots.opened,
  },
  clicked: {
    title: "Clicked, without suspected bots",
    of: ({ outreach }: DigestDay) => outreach.without_suspected_bots.clicked,
  },
  accounts: { title: "Accounts created", of: ({ funnel }: DigestDay) => funnel.date.account_created },
  learners: { title: "Learners qualified", of: ({ funnel }: DigestDay) => funnel.date.learner_qualified },
  completers: { title: "Completers qualified", of: ({ funnel }: DigestDay) => funnel.date.completer_qualified },
} as const satisfies Record<string, { readonly title: string; readonly of: (day: DigestDay) => number }>

export type DigestCount = keyof typeof DIGEST_COUNTS
