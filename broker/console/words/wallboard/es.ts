// El panel de pared en español.
import { counterOf } from '../base/format.ts';
import type { WallboardTexts } from './en.ts';

const many = counterOf('es');

export const wallboardTexts: WallboardTexts = {
  wallboard: {
    title: 'Panel de pared',
    states: 'Vehículos por estado',
    map: 'Mapa de los vehículos; las cifras de al lado cuentan los mismos',
    noMap: 'El mapa necesita WebGL, que este navegador no ofrece',
    alarms: (count) => many(count, 'alarma abierta', 'alarmas abiertas'),
    noAlarms: 'No hay alarmas abiertas',
    alarmsUnknown: 'Alarmas abiertas: no se sabe',
    takenBy: (user) => `Tomada por ${user}`,
    shelved: (count) => many(count, 'alarma está apartada', 'alarmas están apartadas'),
    orders: (count) => many(count, 'orden espera', 'órdenes esperan'),
    noOrders: 'Ninguna orden espera',
    ordersUnknown: 'Órdenes en espera: no se sabe',
    more: (count) => `y ${many(count, 'más', 'más')}`,
    opening: 'Conectando',
    down: (time, span) => `Sin conexión desde las ${time} (${span})`,
    downHint: (time) => `Ve el estado de las ${time}. Se intenta de nuevo solo`,
    noAnswer: (time, span) => `El servicio no responde desde las ${time} (${span})`,
    noAnswerHint: 'Se intenta de nuevo solo',
    ended: (time, span) => `Esta pantalla no tiene acceso desde las ${time} (${span})`,
    endedHint:
      'Su token ha caducado o fue terminado. Se intenta cada minuto; abajo se configura un token nuevo',
    refused: 'Este token no es para un panel de pared',
    expires: (span) => `El token de esta pantalla termina en ${span}. Configure antes uno nuevo`,
    mayGoDark: 'Este navegador puede apagar la pantalla',
    setUp: 'Configurar esta pantalla',
  },
  wallboardSetup: {
    title: 'Configurar este panel de pared',
    text: 'Un panel de pared necesita un token de API que pueda leer y nada más. No ofrece ninguna orden ni ningún cambio.',
    steps: [
      'Un administrador crea un usuario para pantallas, con el rol Observador y los grupos que se pueden mostrar',
      'Entre con ese usuario. En Personas, Sus sesiones y tokens, cree uno que solo pueda leer',
      'Péguelo aquí. Queda en este navegador hasta que se quite aquí o se termine en Personas',
    ],
    token: 'Token de API',
    use: 'Mostrar la flota con este token',
    busy: 'Se pregunta al servicio',
    faults: {
      shape: 'Esto no es un token de API entero. Cópielo todo',
      login: 'Esta es la sesión de una persona. Cree un token que pueda leer',
      scopes: 'Este token puede más que leer. Cree uno que solo pueda leer',
      unknown: 'El servicio no acepta este token. Quizá ha terminado',
      unreachable: 'El servicio no responde. Compruebe la red e inténtelo de nuevo',
    },
    remove: 'Quitar el token de este navegador',
    back: 'Volver al panel de pared',
    language: 'Idioma',
    theme: 'Tema',
  },
};
