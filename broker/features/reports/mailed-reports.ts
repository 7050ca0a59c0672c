// Mails the reports of an account, and removes old mails, while this process has the lease of notifications.
import { dayMs } from '../../../src/core/durations.ts';
import { messageOf } from '../../../src/core/errors.ts';
import type { Kernel } from '../../api/base/api-services.ts';
import { createPeriodicTask } from '../../scheduling/periodic-task.ts';
import { scheduleLimits } from './core/report-schedule.ts';
import { createReportMailer } from './report-mailer.ts';
import { dropOldMails } from './report-mails.ts';
import { createReportReader } from './report-reading.ts';

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
      async close() {
        await Promise.all([mailer.close(), clearing.close()]);
      },
    };
  },
};
