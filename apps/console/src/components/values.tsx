import type { LoggedEvent } from "@outreach/backoffice/events/EventReader"
import { formatAgo, formatCount, INVISIBLE } from "@outreach/backoffice/format"
import { maskContent } from "@outreach/backoffice/inbox/maskContent"
import type { Tone } from "@outreach/backoffice/operations/List"
import type { FoundObject } from "@outreach/backoffice/operators/ObjectFinder"
import { isPartner, type Operator } from "@outreach/domain/operators/Operator"
import { maskNpi } from "@outreach/domain/recipients/Clinician"
import { formatFrom, type Sender } from "@outreach/domain/senders/Sender"
import { type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import type { ComponentChildren, VNode } from "preact"
import { useView } from "../view/View.ts"

/** Longer than names, subjects and replies. */
const MAX_CHARACTERS = 1000

/**
 * Text of a partner, a mail server or a person. It is isolated, so that its direction doesn't affect the text around it, and limited in
 * length. The renderer makes control characters visible, as everywhere on the page.
 */
export const ForeignText = (props: { readonly children: string }) => {
  const text = props.children
  return <bdi>{text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text}</bdi>
}

/** Text that may be long or foreign, such as a request's body, in full in a scrolling box. */
export const ForeignBlock = (props: { readonly children: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
  <pre tabIndex={0}>
    <bdi>{props.children}</bdi>
  </pre>
)

/** Isolates a value with only text, because it may be foreign. */
export const isolated = (content: ComponentChildren): ComponentChildren =>
  typeof content === "string" ? <ForeignText>{content}</ForeignText> : content

/** Returns the text of strings, fragments and foreign text. */
export const textOf = (content: ComponentChildren): string => {
  if (typeof content === "string") return content
  if (Array.isArray(content)) return content.map(textOf).join("")
  return typeof content === "object" && content !== null && "props" in content ? textOf(content.props.children) : ""
}

/** The value of a fact or a cell: a time, an object with a page, a status, a link, a number, or content. Text alone may be foreign. */
export type Value =
  | ((
      | { readonly at: string | null | undefined; readonly none?: string }
      | { readonly id: string; readonly name?: string | null | undefined }
      | { readonly tone: Tone; readonly word: string }
      | { readonly to: string; readonly name: string | number }
    ) & {
      /** A second line. */
      readonly note?: string | undefined
    })
  | VNode
  | string
  | number
  | false
  | null
  | undefined

export const renderValue = (value: Value): ComponentChildren => {
  if (typeof value === "number") return formatCount(value)
  if (typeof value !== "object" || value === null) return isolated(value)
  if ("type" in value) return value
  const { note = "", ...noted } = value
  return <Noted note={note}>{contentOf(noted)}</Noted>
}

const contentOf = (value: Exclude<Value, VNode | string | number | false | null | undefined>): ComponentChildren => {
  if ("at" in value) return <Time at={value.at} none={value.none} />
  if ("tone" in value) return <StatusBadge tone={value.tone}>{value.word}</StatusBadge>
  if ("to" in value) return <a href={value.to}>{renderValue(value.name)}</a>
  return <IdLink id={value.id}>{value.name ?? undefined}</IdLink>
}

/** Returns a phrase of ours with foreign values: `` foreign`Digest of ${program.name}` ``. */
export const foreign = (words: TemplateStringsArray, ...values: ReadonlyArray<string>): VNode => (
  <>{words.flatMap((word, i) => (values[i] === undefined ? [word] : [word, isolated(values[i])]))}</>
)

export const Code = (props: { readonly class?: string; readonly children: string }) => (
  <code class={props.class}>{isolated(props.children)}</code>
)

/** A sentence of ours, with code in backticks and times in UTC to the minute, which are shown in the page's zone. Its values may be foreign. */
export const Prose = (props: { readonly children: string }) => (
  <bdi>{props.children.split("`").map((part, i) => (i % 2 === 0 ? withTimes(part) : <code key={i}>{part}</code>))}</bdi>
)

const withTimes = (text: string): ComponentChildren =>
  text
    .split(/\b(\d{4}-\d\d-\d\d \d\d:\d\d) UTC\b/)
    .map((part, i) => (i % 2 === 0 ? part : <Minute key={i} at={`${part.replace(" ", "T")}:00Z` as Timestamp} />))

export const Noted = (props: { readonly note: ComponentChildren; readonly children: ComponentChildren }) => (
  <>
    {props.children}
    {props.note && (
      <>
        <br />
        <small>{isolated(props.note)}</small>
      </>
    )}
  </>
)

export const Masked = (props: { readonly children: string }) => (
  <small title="Hidden. Use the button to show it.">{props.children}</small>
)

/** A status as a word in a coloured box. The word is sufficient without the colour. */
export const StatusBadge = (props: { readonly tone: Tone | undefined; readonly children: string }) => (
  <span class={`status ${props.tone ?? "neutral"}`}>{props.children}</span>
)

const OBJECT_PAGES: Readonly<Record<string, (id: string) => string>> = {
  org: (id) => `/partners/${id}`,
  cmp: (id) => `/campaigns/${id}`,
  imp: (id) => `/imports/${id}`,
  rcp: (id) => `/people/${id}`,
  whe: (id) => `/endpoints/${id}`,
  evt: (id) => `/events/${id}`,
  dlv: (id) => `/deliveries/${id}`,
  fgr: (id) => `/issues/${id}`,
  opr: (id) => `/operators/${id}`,
  rpl: () => "/replays",
  pgm: (id) => `/programs/${id}`,
  snd: (id) => `/senders/${id}`,
  ers: (id) => `/erasures/${id}`,
}

/** Returns the path of an object's page, if it has one. */
export const pageOf = (id: string): string | undefined => OBJECT_PAGES[id.slice(0, 3)]?.(id)

/** The kinds of objects with pages for partners. */
const PARTNER_PAGES: ReadonlyArray<string> = ["org", "whe", "evt", "dlv", "fgr", "rpl"]

/** Returns the path of an object's page if an operator may have it. */
export const pageFor = (id: string, operator: Operator): string | undefined =>
  isPartner(operator) && !PARTNER_PAGES.includes(id.slice(0, 3)) ? undefined : pageOf(id)

/** Addresses a partner's own staff as "you", and names the partner to others. */
export const Addressed = (props: { readonly you: ComponentChildren; readonly partner: ComponentChildren }) => (
  <>{isPartner(useView().operator) ? props.you : props.partner}</>
)

/** Returns the URL of a partner's event. Partners choose its id. */
export const inboxPageOf = (eventId: string, organizationId: string | null): string =>
  `/inbox/${encodeURIComponent(eventId)}?organization=${organizationId}`

/** Returns the URL of an object: its own page, or its place on another page. */
export const pageShowing = ({ id, organizationId, shownOn }: FoundObject): string => {
  if (shownOn === "inbox") return inboxPageOf(id, organizationId)
  if (id.startsWith("rst_")) return "/system"
  const page = pageOf(shownOn)
  if (page === undefined) return `/partners/${organizationId}`
  return shownOn === id ? page : `${page}#${id}`
}

export const IdLink = (props: { readonly id: string; readonly children?: string | undefined }) => {
  const { id, children } = props
  const page = pageFor(id, useView().operator)
  if (page === undefined) return children === undefined ? <Id>{id}</Id> : <ForeignText>{children}</ForeignText>
  return <a href={page}>{children === undefined ? <ShortId>{id}</ShortId> : <ForeignText>{children}</ForeignText>}</a>
}

/** The clinician of an event about exactly one. */
export const ClinicianOf = ({ recipientId, npi }: Pick<LoggedEvent, "recipientId" | "npi">) => {
  if (recipientId === null) return <>–</>
  // An erased clinician has no page.
  return npi === null ? <>Erased clinician</> : <IdLink id={recipientId}>{`NPI ${maskNpi(npi)}`}</IdLink>
}

export const senderLink = (sender: Sender) => ({ id: sender.id, name: formatFrom(sender) })

export const Id = (props: { readonly children: string }) => (
  <span>
    <ShortId>{props.children}</ShortId>
    <CopyButton>{props.children}</CopyButton>
  </span>
)

/** An id with a hidden middle. Selections, searches and screen readers get the whole id. */
export const ShortId = (props: { readonly children: string }) => {
  const id = props.children
  const [, start, middle, end] = /^([a-z]{3}_)([0-9a-f]{26})([0-9a-f]{6})$/.exec(id) ?? []
  if (middle === undefined) return <Code>{id}</Code>
  return (
    <code class="id" title={id}>
      {start}
      <span>{middle}</span>
      {end}
    </code>
  )
}

/** A line of code, which may wrap, with a button to copy it. */
export const CopyLine = (props: { readonly children: string }) => (
  <>
    <Code class="line">{props.children}</Code> <CopyButton>{props.children}</CopyButton>
  </>
)

/** The browser's script copies it. */
export const CopyButton = (props: { readonly children: string }) => (
  <button type="button" class="copy" data-copy={props.children} aria-label="Copy" />
)

const DAY_SECONDS = 86_400

/** An instant, exact and relative to now. A table shows one of them: the relative one for a day. */
export const Time = (props: {
  readonly at: string | null | undefined
  /** The text if there is no instant. Default: a dash. */
  readonly none?: string | undefined
}) => {
  const { now } = useView()
  if (props.at === null || props.at === undefined) return <>{props.none ?? "–"}</>
  const exact = props.at.slice(0, 19).replace("T", " ")
  const seconds = (now - toUnixMillis(props.at as Timestamp)) / 1000
  return (
    <time dateTime={props.at} title={`${exact} UTC`} class={Math.abs(seconds) < DAY_SECONDS ? "near" : undefined}>
      <span data-local>{exact}</span> <small>{formatAgo(seconds)}</small>
    </time>
  )
}

/** An instant to the minute, in the page's zone. */
export const Minute = (props: { readonly at: Timestamp }) => (
  <time dateTime={props.at} title={`${minuteOf(props.at)} UTC`} data-local="minute">
    {minuteOf(props.at)}
  </time>
)

const minuteOf = (at: string): string => at.slice(0, 16).replace("T", " ")

/** A request or response body, indented if it is JSON. Unless `isShown`, possibly personal values are masked. */
export const Content = (props: { readonly isShown: boolean; readonly children: string }) => {
  const content = props.isShown ? parsed(props.children) : maskContent(props.children)
  return <ForeignBlock>{typeof content === "string" ? content : JSON.stringify(content, null, 2)}</ForeignBlock>
}

const parsed = (text: string): unknown => {
  try {
    const content: unknown = JSON.parse(text)
    return typeof content === "string" ? text : content
  } catch {
    return text
  }
}

/** A text area submits its text unchanged. */
const TEXTAREA = /(<textarea[^>]*>[^<]*)/

/** Returns a text with control characters and direction marks as escapes, such as `\u{202e}`. */
export const visibleText = (text: string): string =>
  text
    .replaceAll("\r\n", "\n")
    .split(TEXTAREA)
    .map((part, i) => (i % 2 === 1 ? part : part.replace(INVISIBLE, escapeOf)))
    .join("")

const escapeOf = (character: string): string => `\\u{${character.codePointAt(0)!.toString(16)}}`
