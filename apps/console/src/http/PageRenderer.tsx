import { Context, Effect, Layer } from "effect"
import { HttpServerResponse } from "effect/http"
import type { VNode } from "preact"
import { renderToString } from "preact-render-to-string"
import { ConsoleConfig } from "../ConsoleConfig.ts"
import { ForeignText } from "../components/ForeignText.tsx"
import { Document, Layout } from "../components/Layout.tsx"
import { type View, ViewContext } from "../components/View.ts"
import { visibleText } from "../components/visibleText.ts"
import { Assets } from "./assets.ts"
import type { PageError } from "./PageError.ts"
import type { PageContent, Section } from "./Route.ts"

/** Renders pages as documents. */
export class PageRenderer extends Context.Service<PageRenderer>()("console/http/PageRenderer", {
  make: Effect.gen(function* () {
    const { style, icon, scripts } = yield* Assets
    const { deployment } = yield* ConsoleConfig
    const assets = { style: style.path, icon: icon.path, scripts: scripts.map(({ path }) => path) }

    /** Renders a document, for nobody who is signed in. */
    const document = (title: string, body: VNode, status = 200): HttpServerResponse.HttpServerResponse =>
      HttpServerResponse.text(
        `<!doctype html>${visibleText(
          renderToString(
            <Document title={title} assets={assets}>
              {body}
            </Document>,
          ),
        )}`,
        { status, contentType: "text/html; charset=utf-8" },
      )

    /** Renders a page for the operator of a view. */
    const page = (
      view: View,
      content: PageContent,
      options: { readonly section?: Section; readonly notice?: string | undefined; readonly status?: number } = {},
    ): HttpServerResponse.HttpServerResponse =>
      document(
        content.title,
        <ViewContext.Provider value={view}>
          <Layout
            section={options.section}
            deployment={deployment}
            heading={content.heading ?? content.title}
            notice={options.notice}
            commands={content.commands}
          >
            {content.body}
          </Layout>
        </ViewContext.Provider>,
        options.status,
      )

    return {
      document,
      page,
      /** Renders what an operator is shown in place of a page. */
      error: (
        view: View | undefined,
        { status, title, messages, retryAfterSeconds }: PageError,
      ): HttpServerResponse.HttpServerResponse => {
        const headers: Readonly<Record<string, string>> =
          retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }
        const body = (
          <>
            {messages.map((message) => (
              <p key={message} class="problem">
                <ForeignText>{message}</ForeignText>
              </p>
            ))}
            <p>
              <a href="/">Back to today</a>
            </p>
          </>
        )
        if (view !== undefined) {
          return HttpServerResponse.setHeaders(page(view, { title, commands: [], body }, { status }), headers)
        }
        const main = (
          <main class="narrow" id="content">
            <h1>{title}</h1>
            {body}
          </main>
        )
        return HttpServerResponse.setHeaders(document(title, main, status), headers)
      },
    }
  }),
}) {
  static readonly layer = Layer.effect(PageRenderer, PageRenderer.make)
}
