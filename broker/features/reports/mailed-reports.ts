// Mails the reports of an account, and removes old mails, while this process has the lease of notifications.
import { dayMs } from '../../../src/core/durations.ts';
import { messageOf } from '../../../src/core/errors.ts';
import type { Kernel } from '../../api/base/operation.ts';
import { createRates } from '../../core/scheduling/rate.ts';
import { createPeriodicTask } from '../../scheduling/periodic-task.ts';
import { scheduleLimits } from './core/report-schedule.ts';
import { createReportMailer } from './report-mailer.ts';
import { dropOldMails } from './report-mails.ts';
import { createReportReader } from './report-reading.ts';

/** Reports that one account asks to be mailed now: 5 at once, then one a minute. */
const requestRate = { burst: 5, perS: 1 / 60 } as const;

const clearEveryMs = 10 * 60_000;
/** The first clearing does not compete with the start. */
const firstClearMs = 60_000;

export const mailedReports = {
  create(kernel: Kernel) {
    const { db, clock, log, aging, leases } = kernel;
    const isOurs = (): boolean => leases.holds('notifications');
    const reader = createReportReader(kernel);
    const mailer = createReportMailer({ ...kernel, reader, isOurs, onDeliveries: kernel.wakeDelivery });
    const clear = async (): Promise<void> => {
      const { nowMs } = await aging.read();
      const { contentDays, mailDays } = scheduleLimits;
      await db.write(dropOldMails(nowMs - contentDays * dayMs, nowMs - mailDays * dayMs));
    };
    const clearing = createPeriodicTask({
      clock,
      firstMs: firstClearMs,
      run: async () => {
        if (isOurs())
          await clear().catch((thrown: unknown) =>
            log.error('report_cleanup_failed', { reason: messageOf(thrown) }),
          );
        return clearEveryMs;
      },
    });
    return {
      ...mailer,
      /** How often an account may ask for a report at once. */
      requests: createRates(requestRate),
      async close() {
        await Promise.all([mailer.close(), clearing.close()]);
      },
    };
  },
};
