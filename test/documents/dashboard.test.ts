import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { ROOT, read } from './document.ts'

const DASHBOARD = '.github/dashboard.json'
const rows = z.array(
  z.strictObject({
    row: z.string(),
    width: z.number(),
    panels: z.record(z.string(), z.record(z.string(), z.string())),
  }),
)

const HEAD = {
  uid: 'gatehouse',
  title: 'Gatehouse',
  tags: ['gatehouse'],
  timezone: 'browser',
  schemaVersion: 39,
  version: 1,
  editable: true,
  time: { from: 'now-3h', to: 'now' },
  refresh: '30s',
  templating: {
    list: [{ name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Prometheus', current: {} }],
  },
  annotations: { list: [] },
}

const WIDTH = 24
const HEIGHT = 8

/** What Grafana reads, one line a panel. */
function dashboard(): string {
  const panels: object[] = []
  let y = 0
  const add = (panel: object) => panels.push({ ...panel, id: panels.length + 1 })
  for (const { row, width, panels: ofRow } of rows.parse(parse(read('src/operations/metrics/dashboard.yml')))) {
    add({ type: 'row', title: row, collapsed: false, gridPos: { h: 1, w: WIDTH, x: 0, y }, panels: [] })
    const beside = WIDTH / width
    for (const [at, [name, queries]] of Object.entries(ofRow).entries()) {
      const [title, unit] = name.split(' | ')
      add({
        type: 'timeseries',
        title,
        datasource: { type: 'prometheus', uid: `\${datasource}` },
        gridPos: { h: HEIGHT, w: width, x: (at % beside) * width, y: y + 1 + Math.floor(at / beside) * HEIGHT },
        fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
        options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
        targets: Object.entries(queries).map(([legendFormat, expr], place) => ({
          refId: String.fromCharCode(65 + place),
          expr,
          legendFormat,
        })),
      })
    }
    y += 1 + Math.ceil(Object.keys(ofRow).length / beside) * HEIGHT
  }
  const lines = panels.map((panel) => `\n${JSON.stringify(panel)}`)
  return `${JSON.stringify({ ...HEAD, panels: [] }).replace(/\]\}$/, () => `${lines.join(',')}\n]}`)}\n`
}

it('the dashboard for Grafana is made from its rows of panels', () => {
  if (process.env.DOCUMENTS === 'write') writeFileSync(`${ROOT}${DASHBOARD}`, dashboard())
  else expect(read(DASHBOARD)).toBe(dashboard())
})
