import { HttpServerResponse } from "effect/http"
import type { ComponentChildren, VNode } from "preact"
import { renderToString } from "preact-render-to-string"
import { LinkLine, Page, type PageElement } from "../components/layout.tsx"
import { ForeignText, isolated, textOf, useView, type View, ViewContext, visibleText } from "../components/values.tsx"
import { icon, scripts, style } from "./assets.ts"
import type { PageError } from "./PageError.ts"
import { homeOf, sectionsOf } from "./paths.ts"

type Response = HttpServerResponse.HttpServerResponse

export const renderPage = (view: View, page: PageElement, status?: number): Response =>
  document(
    textOf(page.props.title),
    <ViewContext.Provider value={view}>
      <Layout>{page}</Layout>
    </ViewContext.Provider>,
    status,
  )

/** Renders a document for somebody who is not signed in. */
export const renderPlain = (title: string, body: ComponentChildren, status?: number): Response =>
  document(
    title,
    <main class="narrow" id="content">
      <h1>{title}</h1>
      {body}
    </main>,
    status,
  )

/** Renders an error as a page, for the operator who is signed in if there is a view. */
export const renderError = (view: View | undefined, error: PageError): Response => {
  const { status, title, messages, retryAfterSeconds } = error
  const body = (
    <>
      {messages.map((message) => (
        <p key={message} class="problem">
          {isolated(message)}
        </p>
      ))}
      <LinkLine to="/">Back to the first page</LinkLine>
    </>
  )
  const response =
    view === undefined ? renderPlain(title, body, status) : renderPage(view, <Page title={title}>{body}</Page>, status)
  return retryAfterSeconds === undefined
    ? response
    : HttpServerResponse.setHeader(response, "retry-after", String(retryAfterSeconds))
}

const document = (title: string, body: VNode, status = 200): Response => {
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
      <body>{body}</body>
    </html>,
  )
  return HttpServerResponse.text(`<!doctype html>${visibleText(html)}`, {
    status,
    contentType: "text/html; charset=utf-8",
  })
}

const Layout = (props: { readonly children: ComponentChildren }) => {
  const { operator, formToken, deployment, section: current, notice } = useView()
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="top">
        <p class="brand">
          <a href={homeOf(operator)}>Outreach console</a> <span class={`badge ${deployment}`}>{deployment}</span>
        </p>
        <form class="account" method="post" action="/sign-out">
          <input type="hidden" name="token" value={formToken} />
          <span>
            <ForeignText>{operator.name}</ForeignText> <small>{operator.role}</small>
          </span>
          <button type="submit" class="plain">
            Sign out
          </button>
        </form>
      </header>
      <nav class="sections" aria-label="Sections">
        <ul>
          {sectionsOf(operator).map(({ section, title, path }) => (
            <li key={section}>
              <a href={path} aria-current={section === current ? "page" : undefined}>
                {title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main id="content" tabIndex={-1}>
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
