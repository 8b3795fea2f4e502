import { action } from '../../platform/lib/action.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import { listNotices } from './received.ts'

const SHOWN_OF_BODY = 200

const brief = (text: string): string => (text.length > SHOWN_OF_BODY ? `${cutTo(text, SHOWN_OF_BODY)}…` : text)

export const NOTICE_ACTIONS = [
  action({
    route: 'GET /partners/:partner_id/notices',
    command: 'partner notices',
    // Bodies are shown as received, with personal data.
    role: 'support',
    run: listNotices,
    list: {
      rows: 'notices',
      columns: [
        'received_at',
        {
          name: 'path',
          page: ({ partner_id, refused, id }) => [
            '/traffic/:partner_id/:kind/:id',
            { partner_id, kind: refused === null ? 'notice' : 'rejected', id },
          ],
        },
        {
          name: 'outcome',
          of: ({ refused }, t) => refused ?? t('console.state.accepted'),
          tone: ({ refused }) => (refused === null ? 'good' : 'bad'),
        },
        { name: 'body', of: ({ body }) => brief(body.replaceAll(/\s+/g, ' ')) },
      ],
    },
  }),
]
