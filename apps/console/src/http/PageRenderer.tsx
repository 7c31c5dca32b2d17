import { Context, Effect, Layer } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ComponentChildren, VNode } from "preact"
import { renderToString } from "preact-render-to-string"
import { ConsoleConfig } from "../ConsoleConfig.ts"
import { LinkLine, Narrow, Page, type PageElement } from "../components/layout.tsx"
import { ForeignText, isolated, textOf, useView, type View, ViewContext, visibleText } from "../components/values.tsx"
import { icon, scripts, style } from "./assets.ts"
import type { PageError } from "./PageError.ts"
import { DEPLOYMENT_SECTIONS, SECTIONS, type Section } from "./paths.ts"

export class PageRenderer extends Context.Service<PageRenderer>()("console/http/PageRenderer", {
  make: Effect.gen(function* () {
    const { deployment } = yield* ConsoleConfig

    const page = (
      view: View,
      content: PageElement,
      options: { readonly section?: Section; readonly notice?: string | undefined; readonly status?: number } = {},
    ): HttpServerResponse.HttpServerResponse =>
      document(
        textOf(content.props.title),
        <ViewContext.Provider value={view}>
          <Layout section={options.section} deployment={deployment} notice={options.notice}>
            {content}
          </Layout>
        </ViewContext.Provider>,
        options.status,
      )

    const plain = (title: string, body: ComponentChildren, status?: number): HttpServerResponse.HttpServerResponse =>
      document(title, <Narrow title={title}>{body}</Narrow>, status)

    return {
      /** Renders a document for somebody who is not signed in. */
      plain,
      page,
      error: (
        view: View | undefined,
        { status, title, messages, retryAfterSeconds }: PageError,
      ): HttpServerResponse.HttpServerResponse => {
        const body = (
          <>
            {messages.map((message) => (
              <p key={message} class="problem">
                {isolated(message)}
              </p>
            ))}
            <LinkLine to="/">Back to today</LinkLine>
          </>
        )
        const response =
          view === undefined ? plain(title, body, status) : page(view, <Page title={title}>{body}</Page>, { status })
        return retryAfterSeconds === undefined
          ? response
          : HttpServerResponse.setHeader(response, "retry-after", String(retryAfterSeconds))
      },
    }
  }),
}) {
  static readonly layer = Layer.effect(PageRenderer, PageRenderer.make)
}

const document = (title: string, body: VNode, status = 200): HttpServerResponse.HttpServerResponse => {
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

const Layout = (props: {
  readonly section: Section | undefined
  readonly deployment: string
  readonly notice: string | undefined
  readonly children: ComponentChildren
}) => {
  const { operator, formToken } = useView()
  const isBound = operator.organizationId !== null
  const sections = (Object.keys(SECTIONS) as Array<Section>).filter(
    (section) => !isBound || !DEPLOYMENT_SECTIONS.includes(section),
  )
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="top">
        <p class="brand">
          <a href="/">Outreach console</a> <span class={`badge ${props.deployment}`}>{props.deployment}</span>
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
          {sections.map((section) => (
            <li key={section}>
              <a href={SECTIONS[section].path} aria-current={section === props.section ? "page" : undefined}>
                {SECTIONS[section].title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main id="content" tabIndex={-1}>
        {props.notice !== undefined && (
          <p class="notice" role="status">
            <ForeignText>{props.notice}</ForeignText>
          </p>
        )}
        {props.children}
      </main>
    </>
  )
}
