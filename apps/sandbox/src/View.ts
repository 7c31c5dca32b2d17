/** What the sandbox shows of itself, on a terminal's panel or as lines. */
export interface View {
  /** A step of its start, or what it does. */
  readonly status: string
  readonly isStopping: boolean
  readonly addresses: ReadonlyArray<Address>
  /** What is to be known about an earlier run. */
  readonly note: string | undefined
  /** A command that pulls a record, in lines. */
  readonly pull: readonly string[]
  readonly progress: Progress | undefined
  readonly firstWebhook: FirstWebhook | undefined
  /** The last failures and restarts of services, and what else went wrong. */
  readonly incidents: readonly string[]
}

export interface Address {
  readonly name: string
  readonly url: string
  readonly note: string
}

/** The first webhook that the sample partner has received and verified in this run. */
export interface FirstWebhook {
  readonly id: string
  readonly type: string
  /** Since the start of the sandbox. */
  readonly seconds: number
}

/** The counts of the campaign. */
export interface Progress {
  readonly status: string
  readonly recipients: number
  readonly published: number
  readonly sent: number
  readonly mails: number
  readonly webhooks: number
  readonly reconciled: number
  /** Counts that are shown once there are any, in order. */
  readonly outcomes: Readonly<Record<(typeof OUTCOMES)[number], number>>
}

export const OUTCOMES = [
  "opened",
  "clicked",
  "bounced",
  "unsubscribed",
  "accounts",
  "learners",
  "completers",
  "repeated",
] as const

/** Returns the parts of the line of a campaign, the most important first. */
export const progressParts = (progress: Progress): readonly string[] => {
  const { published, recipients, sent, mails, webhooks, reconciled, outcomes, status } = progress
  const number = (count: number) => count.toLocaleString("en")
  return [
    `published ${number(published)} of ${number(recipients)}`,
    `sent ${number(sent)}`,
    `mails ${number(mails)}`,
    `webhooks received ${number(webhooks)}`,
    `reconciled ${number(reconciled)}`,
    ...OUTCOMES.flatMap((name) => (outcomes[name] > 0 ? [`${name} ${number(outcomes[name])}`] : [])),
    `campaign ${status}`,
  ]
}

/** Returns the parts that tell of the first webhook. */
export const firstWebhookParts = ({ id, type, seconds }: FirstWebhook): readonly string[] => [
  `first webhook ${type}`,
  id,
  `received and verified after ${seconds.toFixed(1)} s`,
]
