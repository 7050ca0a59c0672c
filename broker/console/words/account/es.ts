// La cuenta y las preferencias del usuario, en español.
import { formatNumber } from '../base/format.ts';
import type { AccountTexts } from './en.ts';

const n = (value: number): string => formatNumber(value, 'es');

export const accountTexts: AccountTexts = {
  account: {
    of: (account) => `Cuenta ${account}`,
    state: 'Estado',
    active: 'Activa',
    inactive: 'Suspendida o caducada',
    ends: 'Termina',
    endsNever: 'No termina',
    devices: 'Dispositivos',
    devicesOf: (count, most) => `${n(count)} de ${n(most)}`,
    devicesFree: (count) => `${n(count)}, sin límite`,
    adminsOnly: 'Los ajustes de la cuenta los cambian los administradores',
    settings: 'Ajustes',
    fields: {
      name: 'Nombre de la cuenta',
      timeZone: 'Zona horaria',
      cutsPerHour: 'Cortes de un usuario por hora',
      retainedDays: 'Días que se guardan los eventos',
    },
    hints: {
      timeZone: 'Como Europe/Madrid; los usuarios nuevos empiezan con ella',
      cutsPerHour: 'De 0 a 1000. Un corte de más abre el disyuntor; 0 no permite ninguno',
      retainedDays: (most, mayBeForEver) =>
        mayBeForEver
          ? `De 1 a ${n(most)}; 0 los guarda para siempre`
          : `De 1 a ${n(most)}, como permite el operador del servicio`,
    },
    wrong: {
      name: 'Use 128 caracteres como máximo',
      timeZone: 'Indique una zona horaria',
      cutsPerHour: 'Use un número entero de 0 a 1000',
      retainedDays: 'Use un número entero de días dentro de los límites',
    },
    look: (account) => `¿Guardar para la cuenta ${account}?`,
    lookAction: (account) => `Guardar para ${account}`,
    looks: {
      deletes: 'Los eventos más antiguos se borran para siempre',
      noCuts: 'Ningún usuario podrá pedir un corte. Las restauraciones siguen libres',
      fewerCuts: 'Quien alcanzó el nuevo límite abre el disyuntor con su próximo corte',
    },
    cuts: 'Reglas de los cortes',
    approval: {
      name: 'Segunda persona',
      on: 'Cada corte necesita un segundo usuario',
      off: 'Un usuario basta para un corte',
      require: 'Exigir un segundo usuario',
      requireTitle: '¿Exigir un segundo usuario para cada corte?',
      requireText:
        'Desde entonces un corte espera hasta que otro operador o administrador lo apruebe. Quitarlo exige dos administradores, o un día',
      requireAction: (account) => `Exigir un segundo usuario en ${account}`,
      drop: 'Quitar',
      dropTitle: '¿Quitar el segundo usuario?',
      dropText:
        'Surte efecto cuando otro administrador pide lo mismo o, si no hay otro, cuando usted lo pide de nuevo un día después. Se avisa a cada administrador',
      dropAction: (account) => `Pedir quitarlo en ${account}`,
      asked: (user, time) => `${user} pide quitarlo desde ${time}`,
      agree: 'Aceptar',
      agreeAction: (account) => `Quitarlo en ${account}`,
      again: 'Pedir de nuevo',
      keep: 'Conservar la regla',
    },
    password: {
      name: 'Contraseña otra vez',
      on: 'Un corte y su aprobación piden otra vez la contraseña',
      off: 'Un corte no pide otra vez la contraseña',
      require: 'Exigir la contraseña',
      requireTitle: '¿Exigir la contraseña antes de cada corte?',
      requireText:
        'Desde entonces un corte, la apertura de la carga y cada aprobación piden otra vez la contraseña del usuario. Una restauración nunca',
      requireAction: (account) => `Exigir la contraseña en ${account}`,
      drop: 'Quitar',
      dropTitle: '¿Quitar la contraseña antes de un corte?',
      dropText: 'Entonces basta una sesión abierta para un corte. Se avisa a cada administrador',
      dropAction: (account) => `Quitar la contraseña en ${account}`,
    },
    breaker: {
      reset: 'Restablecer el disyuntor',
      title: (account) => `¿Restablecer el disyuntor de ${account}?`,
      text: 'Los cortes se aceptan otra vez y se cuentan de nuevo. Quien lo abrió no puede restablecerlo',
      reason: 'Por qué es seguro continuar',
      reasonHint: 'Se guarda en el registro de auditoría',
      action: (account) => `Restablecer el disyuntor de ${account}`,
    },
    preferences: {
      title: 'Sus preferencias',
      text: 'El servicio las guarda para usted: valen en cada navegador en el que entre, desde la entrada. Los menús de la barra cambian solo este navegador',
      language: 'Idioma',
      theme: 'Tema',
      singleKeys: 'Teclas sueltas como atajos',
      notKept: 'No guardado: cada navegador decide',
      save: 'Guardar sus preferencias',
      saved: 'Guardado, y aplicado aquí',
      meanwhile:
        'Sus preferencias se cambiaron entretanto en otro lugar. Se han leído de nuevo: mírelas y luego guarde',
    },
  },
};
