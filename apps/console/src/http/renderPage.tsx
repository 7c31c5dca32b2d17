import { createIdentifier } from "@outreach/domain/Identifier"
import { isPartner } from "@outreach/domain/operators/Operator"
import { transientFailure } from "@outreach/postgres/DatabaseFailure"
import { UnavailableLog } from "@outreach/postgres/UnavailableLog"
import { describeCause } from "@outreach/process/describeCause"
import { Array as Arr, Cause, Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { ComponentChildren } from "preact"
import { renderToString } from "preact-render-to-string"
import { Problems } from "../components/forms.tsx"
import { Chips, LinkLine, Page, type PageElement } from "../components/layout.tsx"
import { ForeignText, isolated, textOf, visibleText } from "../components/values.tsx"
import { homeOf, sectionsOf } from "../view/paths.ts"
import { useView, type View, ViewContext } from "../view/View.ts"
import { icon, scripts, style } from "./assets.ts"
import { PageError } from "./PageError.ts"

type Response = HttpServerResponse.HttpServerResponse

export const renderPage = (view: View, page: PageElement): Response => {
  const render = (problems?: ReadonlyArray<string>) =>
    renderToString(
      <ViewContext.Provider value={view}>
        <Layout problems={problems}>{page}</Layout>
      </ViewContext.Provider>,
    )
  const body = render()
  const { rejected } = view
  // The page may not contain the rejected form.
  const shown = rejected?.isShown === false ? render(rejected.error.messages) : body
  return document(textOf(page.props.title), shown, rejected?.error.status)
}

/** Renders a document for a visitor who isn't signed in. */
export const renderPlain = (title: string, body: ComponentChildren, status?: number): Response =>
  document(
    title,
    renderToString(
      <main class="narrow" id="content">
        <h1>{title}</h1>
        {body}
      </main>,
    ),
    status,
  )

/** Renders the response to a form after its session has ended. The entered values can be submitted again. */
export const renderSignedOut = (action: string, form: URLSearchParams | undefined): Response =>
  renderPlain(
    "Signed out",
    <>
      <p class="problem">Your session has expired, so the form wasn't processed.</p>
      <p>
        <a href="/sign-in" target="_blank" rel="noreferrer">
          Sign in again
        </a>
        {form === undefined ? "." : " in a new window, then return to this one."}
      </p>
      {form !== undefined && <ResubmitForm action={action} form={form} />}
    </>,
    401,
  )

/** A form that wasn't processed, with all its values. */
const ResubmitForm = ({ action, form }: { readonly action: string; readonly form: URLSearchParams }) => (
  <form class="action" method="post" action={action}>
    {Array.from(form, ([name, value], i) => (
      <input key={i} type="hidden" name={name} value={value} />
    ))}
    <button type="submit">Submit again</button>
  </form>
)

/** Renders an error as a page with a way to repeat the request, for the signed-in operator if there is a view. */
export const renderError = (
  view: View | undefined,
  { status, title, messages, retryAfterSeconds }: PageError,
  request?: { readonly method: string; readonly address: string; readonly form: URLSearchParams | undefined },
): Response => {
  // An error belongs to no section.
  const { section, ...shown } = view ?? {}
  const links = view === undefined ? [] : sectionsOf(view.operator)
  const body = (
    <>
      {messages.map((message) => (
        <p key={message} class="problem">
          {isolated(message)}
        </p>
      ))}
      {request?.form !== undefined && <ResubmitForm action={request.address} form={request.form} />}
      {view === undefined && request?.method === "GET" && <LinkLine to={request.address}>Try again</LinkLine>}
      {view === undefined ? (
        <LinkLine to="/">Back to the start</LinkLine>
      ) : (
        <Chips
          label="Next steps"
          of={[
            (status >= 500 || status === 429) && [view.page, "Try again"],
            ...links.filter((link) => link.section === section).map(({ title, path }) => [path, title] as const),
            section !== links[0]?.section && [homeOf(view.operator), "Home"],
          ]}
        />
      )}
    </>
  )
  const response =
    view === undefined
      ? renderPlain(title, body, status)
      : HttpServerResponse.setStatus(renderPage(shown as View, <Page title={title}>{body}</Page>), status)
  return retryAfterSeconds === undefined
    ? response
    : HttpServerResponse.setHeader(response, "retry-after", String(retryAfterSeconds))
}

const document = (title: string, body: string, status = 200): Response => {
  const html = renderToString(
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title} · Outreach console</title>
        <link rel="icon" href={icon.path} />
        <link rel="stylesheet" href={style.path} />
        {scripts.map(({ path }) => (
          <script key={path} type="module" src={path} />
        ))}
      </head>
      <body dangerouslySetInnerHTML={{ __html: body }} />
    </html>,
  )
  return HttpServerResponse.text(visibleText(`<!doctype html>${html}`), {
    status,
    contentType: "text/html; charset=utf-8",
  })
}

const Layout = (props: {
  readonly problems: ReadonlyArray<string> | undefined
  readonly children: ComponentChildren
}) => {
  const { operator, formToken, deployment, section: current, notice, open = {} } = useView()
  return (
    <>
      <a class="hidden" href="#content">
        Skip to the content
      </a>
      <header>
        <button type="button" class="menu" popovertarget="sections" aria-label="Menu">
          <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <path d="M2 4h12M2 8h12M2 12h12" stroke="currentColor" stroke-width="1.5" />
          </svg>
        </button>
        <p>
          <a href={homeOf(operator)}>
            Outreach<span> console</span>
          </a>{" "}
          <span class={deployment === "production" ? "status danger" : "status"}>{deployment}</span>
        </p>
        <search>
          <form method="post" action="/find">
            <input type="hidden" name="token" value={formToken} />
            <input type="hidden" name="page" value="/find" />
            <input
              type="search"
              name="search"
              required
              maxLength={320}
              autocomplete="off"
              aria-label="Search"
              aria-keyshortcuts="/"
              placeholder={
                isPartner(operator) ? "Search events, deliveries, tokens …" : "Search names, ids, NPIs, keys …"
              }
              data-search
            />
          </form>
        </search>
      </header>
      <nav class="sections" id="sections" popover="auto" aria-label="Sections">
        {Object.entries(Arr.groupBy(sectionsOf(operator), ({ group }) => group)).map(([group, links]) => (
          <ul key={group} aria-label={group || undefined}>
            {links.map(({ section, title, path }) => (
              <li key={section}>
                <a href={path} aria-current={section === current ? "page" : undefined} data-open={open[section]}>
                  {title}
                </a>
              </li>
            ))}
          </ul>
        ))}
        <form method="post" action="/sign-out">
          <input type="hidden" name="token" value={formToken} />
          <small>
            Times in <span data-zone>UTC</span>
          </small>
          <button type="button" data-zone-switch hidden />
          <span>
            <ForeignText>{operator.name}</ForeignText> <small>{operator.role}</small>
          </span>
          <button type="submit">Sign out</button>
        </form>
      </nav>
      <main id="content" tabIndex={-1}>
        {props.problems !== undefined && <Problems messages={props.problems} hasFocus />}
        {notice !== undefined && (
          <p class="notice" role="status">
            <ForeignText>{notice}</ForeignText>
          </p>
        )}
        {props.children}
      </main>
    </>
  )
}

/**
 * Renders a failure as a page that describes it, and logs a defect. `view` returns the view of the signed-in operator, if any. If the
 * database fails, the form `sent` can be sent again, also when the failure occurred before the operator was known.
 */
export const renderErrors =
  <R1,>(path: string, view: () => View | undefined, sent: Effect.Effect<URLSearchParams | undefined, never, R1>) =>
  <R,>(answer: Effect.Effect<HttpServerResponse.HttpServerResponse, PageError, R>) =>
    answer.pipe(
      Effect.catchTag("PageError", (error) => Effect.succeed(renderError(view(), error))),
      Effect.catchCauseIf(
        (cause) => !Cause.hasInterruptsOnly(cause),
        Effect.fnUntraced(function* (cause) {
          const requestId = yield* createIdentifier("request")
          const failure = transientFailure(cause)
          if (failure !== undefined) {
            yield* (yield* UnavailableLog).count(failure, requestId)
            const { method, url } = yield* HttpServerRequest.HttpServerRequest
            return renderError(view(), unavailable, { method, address: url, form: yield* sent })
          }
          yield* Effect.logError("unhandled error in request").pipe(
            Effect.annotateLogs({ requestId, route: path, errors: describeCause(cause) }),
          )
          return renderError(view(), defect(requestId))
        }),
      ),
    )

const unavailable = new PageError({
  status: 503,
  title: "The database didn't respond",
  messages: ["It is unavailable, or the query took too long. Try again in a minute."],
  retryAfterSeconds: 60,
})

const defect = (requestId: string): PageError =>
  PageError.of(500, "Internal error", `The console failed unexpectedly. Search its log for ${requestId}.`)
